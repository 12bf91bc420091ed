import Foundation
import LiveQuery
import Testing

@testable import FreshetRemote
@testable import FreshetResults
@testable import Wire

/// The lists of `Fixtures/overlays`, step by step: messages, changes laid over them, and the shown state. The
/// JavaScript client must show the same.
struct OverlayCorpusTests {
  private static let folder = URL(filePath: #filePath).appending(path: "../../../Fixtures/overlays").standardizedFileURL
  private static let names =
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?
    .filter { $0.hasSuffix(".json") }.sorted() ?? []

  @Test func `There are lists`() { #expect(Self.names.count > 10) }

  @Test(arguments: names)
  func `What is shown of a list is the server's rows with the changes`(name: String) throws {
    let list = try JSONParser.parse(Array(Data(contentsOf: Self.folder.appending(path: name))))
    var reader = ServerMessageReader()
    var model = OverlaidModel<ResultRow> { $0 }
    var changes: [LaidChange] = []
    for (index, step) in try list.required("steps").parts(0).enumerated() {
      var message = ListMessage.laid
      if let json = step["message"] { message = try #require(try reader.read(json).flatMap(ListMessage.init)) }
      if let laid = step["lay"] { changes.append(try LaidChange(laid)) }
      if let committed = step["committed"] {
        let id = try committed.required("id").count()
        changes[try #require(changes.firstIndex { $0.id == id })].commit = Int64(
          try committed.required("commit").count())
      }
      if let refused = step["refused"] {
        let id = try refused.count()
        changes.removeAll { $0.id == id }
      }
      _ = try model.apply(message, changes)
      #expect(model.results.outline == step["shown"], "step \(index)")
    }
  }
}

extension LaidChange {
  fileprivate init(_ json: JSONValue) throws {
    var changes: [OptimisticChange] = []
    let kinds: [(String, ([String: SQLValue]) -> OptimisticChange)] = [
      ("delete", { .delete($0) }), ("update", { .update($0) }), ("insert", { .insert($0) }),
    ]
    for (kind, make) in kinds {
      for row in try json.required("change").list(kind, { $0 }) {
        guard case .object(let members) = row else { continue }
        changes.append(make(try members.mapValues { try SQLValue(json: $0, what: "a value") }))
      }
    }
    self.init(id: try json.required("id").count(), changes: changes, newKeys: changes.map { _ in 0 })
  }
}

extension SectionedResults<ResultRow> {
  /// The shown state, in the corpus's format.
  fileprivate var outline: JSONValue {
    var outline: [String: JSONValue] = [
      "sections": .array(
        sections.map { .array([$0.value.json, .string($0.indexTitle), .integer(Int64($0.count))]) }),
      "rows": .array(
        (window ?? 0..<count).map { offset in
          let path = indexPath(atOffset: offset)!
          let pending = pendingState(at: path).map { JSONValue.bool($0.isPlaced) } ?? .null
          return .array((rowIfLoaded(at: path)?.values ?? []).map(\.json) + [pending])
        }),
    ]
    if let window {
      outline["window"] = .array([.integer(Int64(window.lowerBound)), .integer(Int64(window.upperBound))])
    }
    return .object(outline)
  }
}

extension SQLValue {
  fileprivate var json: JSONValue {
    switch self {
    case .null, .blob: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .string(text)
    }
  }
}
