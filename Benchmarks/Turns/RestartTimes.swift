import ChangeCapture
import Following
import Foundation
import GRDB
import Ground
import Store

/// The cost of keeping the state of a followed file, and of starting from it: `freshet-turns restart wells.sqlite`.
///
/// Every line is a name and nanoseconds, or bytes.
struct RestartTimes {
  private let path: String
  private let writer: DatabaseQueue
  private let clock = MonotonicClock.system
  private var schema = DatabaseSchema.empty
  private let folder: String
  private(set) var lines: [(name: String, value: Int)] = []

  init(path: String) throws {
    self.path = path
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("freshet-states-\(UUID().uuidString)").path
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") }
    writer = try DatabaseQueue(path: path, configuration: configuration)
  }

  mutating func measure() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try update(1)
    let first = try open(nil)
    try first.connection.snapshot {
      _ = try advance(first)
      let table = schema.table("well")?.storage?.table
      guard let table else { throw Failure("there is no table well") }
      _ = first.connection.capture.follow(table, remembering: [])
      while first.connection.capture.readOn() {}
    }
    // Ticks before, the one that gives a state away, and one while the state is held by another thread.
    var plain: [Int] = []
    for id in 2..<30 { plain.append(try tick(first, after: id)) }
    add("tick", plain.sorted()[plain.count / 2])
    var state: CaptureState?
    add("give", nanoseconds { state = CaptureState(of: first.connection.capture) })
    add("tick that changes what is held", try tick(first, after: 31))
    guard let state else { throw Failure("there is no state") }
    var bytes: [UInt8] = []
    add("encode", nanoseconds { bytes = state.encoded() })
    add("bytes", bytes.count)
    let file = try StateFile(of: path, part: "turns", in: folder)
    add("encode and write", try nanoseconds { try file.write(state, isLast: true) })
    try goOn(file, "frames")
    try writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try file.write(state, isLast: true)
    try goOn(file, "comparison")
    try scan()
  }

  /// A new process reads the state, and takes its first tick.
  private mutating func goOn(_ file: StateFile, _ how: String) throws {
    try update(40)
    var state: CaptureState?
    add("read, \(how)", try nanoseconds { state = try file.read()?.state })
    let next = try open(state)
    var rows = 0
    var isCompared = false
    let time = try nanoseconds {
      try next.connection.snapshot {
        let tick = try advance(next)
        rows = tick.deltas.reduce(0) { $0 + $1.delta.rows.count }
        isCompared = tick.comparison != nil
      }
    }
    if isCompared != (how == "comparison") { throw Failure("the state was not gone on from by \(how)") }
    if rows != 2 { throw Failure("\(rows) rows were found to have changed, and not 2") }
    add("first tick, \(how)", time)
  }

  /// SQLite steps through the table.
  private mutating func scan() throws {
    let next = try open(nil)
    let statement = try PreparedStatement(next.connection.raw, "SELECT * FROM well")
    var sum: Int64 = 0
    for _ in 0..<2 {
      let time = try nanoseconds {
        while try statement.step() { for column in 0..<statement.columnCount { sum &+= statement.integer(column) } }
        statement.reset()
      }
      if lines.last?.name == "scan" { lines.removeLast() }
      add("scan", time)
    }
    if sum == 0 { throw Failure("there are no rows") }
  }

  private func open(_ state: CaptureState?) throws -> OpenDatabase {
    var settings = ChangeCapture.Settings()
    settings.pagesAtOnce = .max
    return try OpenDatabase(path: path, settings, clock: clock, restoring: state)
  }

  private mutating func advance(_ opened: OpenDatabase) throws -> CapturedTick {
    let capture = opened.connection.capture
    let isFirst = !capture.hasSeenState
    let tick = capture.advance()
    if tick.hasSchemaChanged || isFirst {
      schema = try opened.connection.readSchema()
      capture.define { schema.table($0)?.storage?.table }
    }
    return tick
  }

  private mutating func tick(_ opened: OpenDatabase, after id: Int) throws -> Int {
    try update(id)
    return try nanoseconds { try opened.connection.snapshot { _ = try advance(opened) } }
  }

  private func update(_ id: Int) throws {
    try writer.inDatabase {
      try $0.execute(sql: "UPDATE well SET depth = depth + 1 WHERE id = ?", arguments: [id * 997])
    }
  }

  private mutating func add(_ name: String, _ value: Int) { lines.append((name, value)) }

  private func nanoseconds(_ body: () throws -> Void) rethrows -> Int {
    let start = ContinuousClock.now
    try body()
    let time = ContinuousClock.now - start
    return Int(time.components.seconds) * 1_000_000_000 + Int(time.components.attoseconds / 1_000_000_000)
  }
}
