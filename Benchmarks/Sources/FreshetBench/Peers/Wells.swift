import Foundation

/// A table of wells as the demo has it, in a temporary file of its own.
struct Wells {
  static let query = """
    {"from":"well","select":["name","operator","status","depth"],"sectionBy":"county","orderBy":["name"]}
    """
  static let order = "ORDER BY county, name, id"

  let path: String
  let rows: Int

  /// - Parameter isIndexed: whether an index has the order of `query`.
  init(rows: Int, isIndexed: Bool = false) {
    self.rows = rows
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-bench-\(UUID().uuidString)")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "wells.sqlite").path
    let database = RawDatabase(path)
    guard let sql = try? String(contentsOfFile: "wells.sql", encoding: .utf8) else {
      preconditionFailure("run from the folder Benchmarks: there is no wells.sql")
    }
    database.execute(sql.replacing("ROWS", with: "\(rows)"))
    if isIndexed { database.execute("CREATE INDEX well_order ON well(county, name)") }
  }

  func remove() {
    try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
  }
}
