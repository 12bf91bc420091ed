import Foundation
import LiveQuery
import TestSupport
import Testing
import Wire

/// `Tests/Fixtures/patches`: for every case of protocol 3.3 a state, the patch, and the state after. Other clients'
/// tests read the same files.
///
/// `FRESHET_RECORD=1 swift test --filter GoldenVectorTests` writes the patches of new cases; read them before
/// committing.
@Suite struct GoldenVectorTests {
  static let folder = Fixtures.file("patches")
  static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    .filter { $0.hasSuffix(".json") }.sorted()

  @Test func thereAreVectors() { #expect(Self.names.count >= 20) }

  @Test(arguments: names)
  func thePatchIsTheOneInTheFile(name: String) throws {
    let file = Self.folder.appending(path: name)
    let vector = try JSONParser.parse(Array(Data(contentsOf: file)))
    let before = try World(vector.required("before"))
    let after = try World(vector.required("after"))
    let window = try vector.window
    let patch = try before.patch(to: after, window: window).message
    if ProcessInfo.processInfo.environment["FRESHET_RECORD"] == "1" {
      try record(patch, in: file)
    } else {
      #expect(try patch == vector.required("patch"), "\(name)")
    }
    try check(before, after, window: window, name)
    var client = ClientModel()
    try client.apply(before.snapshot(window: window, version: "v"))
    try client.apply(patch)
    #expect(
      client.sections.map(\.rows.count)
        == after.sectionNames.map { name in
          after.rows.filter { $0.section == name }.count
        })
  }

  private func record(_ patch: JSONValue, in file: URL) throws {
    var vector = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as! [String: Any]
    vector["patch"] = try JSONSerialization.jsonObject(with: Data(patch.json.utf8))
    try JSONSerialization.data(withJSONObject: vector, options: [.prettyPrinted, .sortedKeys]).write(to: file)
  }
}

extension World {
  fileprivate init(_ state: JSONValue) throws {
    var rows: [WorldRow] = []
    for section in try state.list("sections") {
      for row in try section.list("rows").map({ try $0.elements() }) {
        rows.append(
          WorldRow(
            section: try section.required("name").text(), name: try row[1].text(), id: try row[0].int(),
            depth: try row[2].int()))
      }
    }
    try self.init(rows)
  }
}

extension JSONValue {
  fileprivate var window: Window? {
    get throws {
      guard let window = self["window"], window != .null else { return nil }
      return Window(offset: try window.required("offset").int(), limit: try window.required("limit").int())
    }
  }
}
