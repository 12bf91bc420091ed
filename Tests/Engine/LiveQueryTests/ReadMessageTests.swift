import LiveQuery
import TestSupport
import Testing
import Wire

/// Messages of lists, read and written by one codec.
@Suite struct ReadMessageTests {
  private func written(_ message: ServerMessage) throws -> JSONValue {
    var writer = JSONWriter()
    message.write(to: &writer, id: "a", .arrays)
    return try JSONParser.parse(writer.bytes)
  }

  private func world(_ generator: inout SeededGenerator, hasTotals: Bool) throws -> World {
    try World(
      (0..<Int.random(in: 0..<9, using: &generator)).map { id in
        WorldRow(
          section: ["A", "B", "C"].randomElement(using: &generator)!,
          name: ["x", "y"].randomElement(using: &generator)!, id: id,
          depth: .random(in: 0..<3, using: &generator))
      }, hasTotals: hasTotals)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `What was read is written as it was`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let (before, after) = (
      try world(&generator, hasTotals: seed % 3 == 0), try world(&generator, hasTotals: seed % 3 == 0)
    )
    let window = seed % 2 == 0 ? nil : Window(offset: Int.random(in: 0..<4, using: &generator), limit: 3)
    var reader = ServerMessageReader()
    for message in [
      try before.snapshot(window: window, version: "v"), try before.patch(to: after, window: window).message,
    ] {
      #expect(try written(try #require(try reader.read(message))) == message, "seed \(seed)")
    }
  }

  @Test func `A part says that others follow, and wide rows change where it is said`() throws {
    var reader = ServerMessageReader()
    let columns = (0..<80).map { "\"c\($0)\"" }.joined(separator: ",")
    let values = (0..<80).map(String.init).joined(separator: ",")
    let snapshot = try reader.read(
      try JSONParser.parse(
        """
        {"type":"snapshot","version":"v","commit":1,"columns":[\(columns)],"key":["c0"],"total":1,
         "sections":[{"name":"","indexTitle":"","count":1}],"offset":0,"rows":[[\(values)]],"complete":false}
        """))
    guard case .snapshot(let part)? = snapshot else { return #expect(Bool(false)) }
    #expect(!part.isComplete && part.order.terms.isEmpty)
    let patch = try reader.read(
      try JSONParser.parse(
        #"{"type":"patch","from":"v","to":"w","commit":2,"total":1,"updated":[[[0,0],[0,0],{"c70":1}]]}"#))
    guard case .patch(let message)? = patch else { return #expect(Bool(false)) }
    let changes = message.changes(message.patch.updated[0], in: message.rows.values(0..<1))
    #expect(changes.map(\.column) == [70] && changes.map(\.value) == [1])
  }

  @Test func `What a transaction did is read as it was written`() throws {
    var inserted = StatementResult(changes: 2, lastInsertRowid: .max)
    (inserted.columns, inserted.rows) = (["id", "a"], [[1, nil], [.integer(.max), .blob([7])]])
    var committed = CommittedTransaction([inserted, StatementResult(changes: 0, lastInsertRowid: nil)], commit: 9)
    for isRemembered in [true, false] {
      if !isRemembered { committed.results = nil }
      let json = try written(.committed(committed))
      #expect(try written(.committed(try CommittedTransaction(json))) == json)
    }
  }

  @Test(arguments: [
    #"{"type":"rows","version":"v","offset":0,"rows":[[1,2]]}"#, #"{"type":"patch","from":"v","to":"w","commit":1}"#,
    #"{"type":"patch","from":"v","to":"w","commit":1,"total":0,"deleted":[[0]]}"#,
    #"{"type":"patch","from":"v","to":"w","commit":1,"total":0,"updated":[[[0,0],[0,0],{"nosuch":1}]]}"#,
    #"{"type":"patch","from":"v","to":"w","commit":-1,"total":0}"#, #"{"type":"snapshot","version":"v"}"#,
  ])
  func `What cannot be read is an error`(message: String) throws {
    var reader = ServerMessageReader()
    #expect(throws: FreshetError.self) { try reader.read(try JSONParser.parse(message)) }
  }
}
