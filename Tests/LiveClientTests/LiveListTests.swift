import Foundation
import LiveClient
import LiveQuery
import TestSupport
import Testing
import Wire

/// What a client holds after each of the published patches, and after messages that fit nothing.
@Suite struct LiveListTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/patches")
  static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    .filter { $0.hasSuffix(".json") }.sorted()

  @Test(arguments: names)
  func `A patch leads from the state before to the state after`(name: String) throws {
    let vector = try JSONParser.parse(Array(Data(contentsOf: Self.folder.appending(path: name))))
    var list = LiveList()
    #expect(try list.apply(snapshot(of: vector, "before")) == .replaced)
    let before = list
    let change = try list.apply(vector.required("patch"))
    let after = try snapshot(of: vector, "after", window: vector.required("patch")["window"])
    var expected = LiveList()
    _ = try expected.apply(after)
    #expect(list.sections == expected.sections && list.total == expected.total && list.window == expected.window)
    // The other model of the protocol, written for tests.
    var model = ClientModel()
    try model.apply(snapshot(of: vector, "before"))
    try model.apply(vector.required("patch"))
    #expect(list.sections.map(\.name) == model.sections.map(\.name) && list.visible.count == model.visibleRows.count)
    guard case .patched(let patch) = change else {
      Issue.record("it was no patch")
      return
    }
    check(patch, before: before, after: list)
  }

  /// Every row that is told of is where it is said to be.
  private func check(_ patch: ListPatch, before: LiveList, after: LiveList) {
    for deletion in patch.deleted { #expect(before.row(deletion.path) == deletion.row) }
    for move in patch.moved + patch.updated {
      if let old = before.row(move.from), let new = after.row(move.to) { #expect(old[0] == new[0]) }
    }
    for section in patch.sectionsDeleted { #expect(before.sections[section.index].name == section.name) }
    for section in patch.sectionsInserted { #expect(after.sections.indices.contains(section)) }
    let change = after.total - before.total
    let sections = patch.sectionsInserted.reduce(0) { $0 + after.sections[$1].rows.count }
    #expect(patch.inserted.count + sections - patch.deleted.count >= change, "rows of deleted sections are not listed")
  }

  private func snapshot(of vector: JSONValue, _ state: String, window given: JSONValue? = nil) throws -> JSONValue {
    let window = given ?? vector["window"]
    let sections = try vector.required(state).list("sections")
    let rows = try sections.flatMap { try $0.list("rows") }
    var members: [String: JSONValue] = [
      "type": .string("snapshot"), "version": .string("v"), "commit": .integer(0), "complete": .bool(true),
      "columns": try vector.required("columns"), "total": .integer(Int64(rows.count)), "offset": .integer(0),
      "rows": .array(rows),
      "sections": .array(
        try sections.map { section in
          .object([
            "name": try section.required("name"), "indexTitle": try section.required("indexTitle"),
            "count": .integer(Int64(try section.list("rows").count)),
          ])
        }),
    ]
    if let window, window != .null {
      members["window"] = window
      let offset = try min(window.required("offset").int(), rows.count)
      members["offset"] = .integer(Int64(offset))
      members["rows"] = .array(Array(rows[offset...].prefix(try window.required("limit").int())))
    }
    return .object(members)
  }

  @Test func `A patch that changes nothing is empty`() throws {
    var list = try list(Self.start.replacing("false}", with: "true}"))
    let change = try list.apply(JSONParser.parse(#"{"type":"patch","from":"1","to":"1","commit":4,"total":4}"#))
    #expect(change == .patched(ListPatch()))
    guard case .patched(let patch) = change else { return }
    #expect(patch.isEmpty)
  }

  // MARK: - Parts and windows

  private static let start = """
    {"type":"snapshot","version":"1","commit":4,"columns":["id","a"],"total":4,
     "sections":[{"name":"x","indexTitle":"X","count":3},{"name":null,"indexTitle":"","count":1}],
     "window":{"offset":1,"limit":2},"offset":1,"rows":[[2,"b"]],"complete":false}
    """

  private func list(_ messages: String...) throws -> LiveList {
    var list = LiveList()
    for message in messages { _ = try list.apply(JSONParser.parse(message)) }
    return list
  }

  @Test func `A snapshot in parts is complete with the last of them`() throws {
    let part = #"{"type":"rows","version":"1","offset":2,"rows":[[3,"c"]],"complete":true}"#
    #expect(try !list(Self.start).isComplete && list(Self.start).received == 1)
    let whole = try list(Self.start, part)
    #expect(whole.isComplete && whole.received == 2 && whole.visible == 1..<3)
    #expect(whole.row(IndexPath(section: 0, item: 2)) == [.integer(3), .string("c")])
    #expect(whole.row(IndexPath(section: 0, item: 0)) == nil && whole.row(IndexPath(section: 9, item: 9)) == nil)
  }

  @Test func `Another window keeps what both have and lets go of the rest`() throws {
    let part = #"{"type":"rows","version":"1","offset":2,"rows":[[3,"c"]],"complete":true}"#
    let move = #"{"type":"rows","version":"1","window":{"offset":2,"limit":5},"offset":3,"rows":[[4,"d"]]}"#
    let moved = try list(Self.start, part, move)
    #expect(moved.visible == 2..<4)
    #expect(moved.sections[0].rows[1] == nil && moved.sections[0].rows[2] != nil && moved.sections[1].rows[0] != nil)
  }

  @Test(arguments: [
    #"{"type":"snapshot","version":"1","commit":4,"columns":["id"],"total":5,"sections":[{"name":"","indexTitle":"","count":9000000000}]}"#,
    #"{"type":"snapshot","version":"1","commit":4,"columns":["id"],"total":1,"sections":[{"name":"","indexTitle":"","count":1}],"rows":[[1,2]]}"#,
    #"{"type":"rows","version":"1","offset":4,"rows":[[3,"c"]]}"#,
    #"{"type":"rows","version":"2","offset":0,"rows":[]}"#,
    #"{"type":"patch","from":"0","to":"2","commit":5,"total":4}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":3}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":3,"deleted":[[0,3]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":2,"deleted":[[0,0],[0,0]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":5,"inserted":[[0,5]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":5,"inserted":[[2,0]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":5,"inserted":[[0,-1]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":3,"sectionsDeleted":[2]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":5,"sectionsInserted":[[3,{"name":"","indexTitle":"","count":1}]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":4,"updated":[[[0,1],[0,1],{"nosuch":1}]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":4,"updated":[[[0,0],[0,0],{"a":1}]]}"#,
    #"{"type":"patch","from":"1","to":"2","commit":5,"total":4,"filled":[[9,[1,2]]]}"#,
    #"{"type":"hello"}"#, #"{"type":"patch","from":"1","to":"2","commit":5,"total":4,"moved":[[]]}"#,
  ])
  func `A message that does not fit is refused`(message: String) throws {
    var list = try list(Self.start, #"{"type":"rows","version":"1","offset":2,"rows":[[3,"c"]],"complete":true}"#)
    #expect(throws: LiveClientError.self) { try list.apply(JSONParser.parse(message)) }
  }
}
