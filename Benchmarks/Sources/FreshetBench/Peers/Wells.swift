import Foundation

/// A table of wells as the demo has it, in a temporary file of its own.
struct Wells {
  static let query = """
    {"from":"well","select":["name","operator","status","depth"],"sectionBy":"county","orderBy":["name"]}
    """
  static let order = "ORDER BY county, name, id"

  private let folder: Folder
  let path: String
  let rows: Int

  /// - Parameter isIndexed: whether an index has the order of `query`.
  init(rows: Int, isIndexed: Bool = false) throws {
    self.rows = rows
    folder = try Folder()
    path = folder.path("wells.sqlite")
    let database = RawDatabase(path)
    // The program is run from the folder Benchmarks.
    let sql = try String(contentsOfFile: "wells.sql", encoding: .utf8)
    database.execute(sql.replacing("ROWS", with: "\(rows)"))
    if isIndexed { database.execute("CREATE INDEX well_order ON well(county, name)") }
  }

  func remove() { folder.remove() }
}
