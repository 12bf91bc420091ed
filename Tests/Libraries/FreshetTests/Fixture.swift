import Foundation
import Freshet
import TestSupport

/// A database of banks, and another process that writes to it.
struct Banks {
  let folder: TemporaryFolder
  let path: String
  let writer: SQLiteSession

  init(_ sql: String = Self.schema) throws {
    folder = try TemporaryFolder()
    path = folder.path("banks.sqlite")
    writer = try SQLiteSession(path: path)
    try writer.run("PRAGMA journal_mode = WAL; " + sql)
  }

  /// Writes in the other process.
  func write(_ sql: String) throws { try writer.run(sql) }

  static let schema = """
    CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, closed TEXT);
    INSERT INTO bank VALUES (1, 'Almena', 'Kansas', '2020-10-23'), (2, 'Ericson', 'Nebraska', NULL),
      (3, 'Barton', 'Kansas', '2019-01-02'), (4, 'Resolute', 'Ohio', NULL);
    """

  static let byState = Query(from: "bank", orderBy: ["name"], sectionBy: "state")
}

struct Bank: Codable, Equatable, Sendable {
  var id: Int
  var name: String
  var state: String
  var closed: Date?
}

extension SectionedResults {
  /// Sections and their rows as texts.
  func outline(_ text: (Element) -> String) -> [String] {
    sections.map { section in
      "\(section.indexTitle): " + section.objects.map { $0.map(text) ?? "-" }.joined(separator: " ")
    }
  }
}

extension Banks {
  /// The same file elsewhere.
  static func make(_ path: String) throws {
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL; " + schema)
  }
}
