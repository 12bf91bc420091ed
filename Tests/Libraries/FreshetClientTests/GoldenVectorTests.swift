import Foundation
import LiveQuery
import Testing

@testable import FreshetRemote
@testable import FreshetResults
@testable import Wire

/// The conformance corpus: each patch in `Fixtures/patches` must lead from the state before it to the one after it.
struct GoldenVectorTests {
  private static let folder = GoldenVectors.folder
  private static let names =
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?
    .filter { $0.hasSuffix(".json") }.sorted() ?? []

  @Test func `There are vectors`() { #expect(Self.names.count > 20) }

  @Test(arguments: names)
  func `A patch leads from the state before to the state after`(name: String) throws {
    let vector = try JSONParser.parse(Array(Data(contentsOf: Self.folder.appending(path: name))))
    var reader = ServerMessageReader()
    var model = ResultsModel { $0 }
    let patch = try vector.required("patch")
    let before = try Self.state(try vector.required("before"))
    let snapshot = try Self.snapshot(vector, before, version: try patch.required("from"))
    _ = try model.apply(try #require(try reader.read(snapshot).flatMap(ListMessage.init)))
    #expect(model.results.rows == before.rows(in: model.results.window))
    _ = try model.apply(try #require(try reader.read(patch).flatMap(ListMessage.init)))
    let after = try Self.state(try vector.required("after"))
    #expect(model.results.rows == after.rows(in: model.results.window))
    #expect(model.results.sections.map(\.indexTitle) == after.titles)
    #expect(model.version == (try patch.required("to").text()))
    if let window = try patch.window() { #expect(model.results.window == window.range(total: model.results.count)) }
  }

  private struct State {
    /// All rows, including those outside the window.
    let rows: [[[SQLValue]?]]
    let titles: [String]
    let json: JSONValue

    /// The client's rows.
    func rows(in window: Range<Int>?) -> [[[SQLValue]?]] {
      var offset = -1
      return rows.map { section in
        section.map { row in
          offset += 1
          return window?.contains(offset) ?? true ? row : nil
        }
      }
    }
  }

  private static func state(_ json: JSONValue) throws -> State {
    let sections = try json.required("sections").parts(0)
    let rows = try sections.map { section in
      try section.required("rows").parts(0).map { row -> [SQLValue]? in
        row == .null ? nil : try row.parts(0).map { try SQLValue(json: $0, what: "value") }
      }
    }
    return State(rows: rows, titles: try sections.map { try $0.required("indexTitle").text() }, json: json)
  }

  /// The message that a server would have sent.
  private static func snapshot(_ vector: JSONValue, _ state: State, version: JSONValue) throws -> JSONValue {
    let sections = try state.json.required("sections").parts(0).map { section in
      JSONValue.object([
        "name": try section.required("name"), "indexTitle": try section.required("indexTitle"),
        "count": .integer(Int64(try section.required("rows").parts(0).count)),
      ])
    }
    let rows = try state.json.required("sections").parts(0).flatMap { try $0.required("rows").parts(0) }
    let window = try vector.window()
    let visible = window?.range(total: rows.count) ?? 0..<rows.count
    var members: [String: JSONValue] = [
      "type": .string("snapshot"), "version": version, "commit": .integer(0),
      "columns": try vector.required("columns"), "key": try vector.required("key"),
      "total": .integer(Int64(rows.count)), "sections": .array(sections),
      "offset": .integer(Int64(visible.lowerBound)), "rows": .array(Array(rows[visible])), "complete": .bool(true),
    ]
    if window != nil { members["window"] = vector["window"] }
    return .object(members)
  }
}

extension SectionedResults<ResultRow> {
  fileprivate var rows: [[[SQLValue]?]] { sections.map { $0.objects.map { $0?.values } } }
}
