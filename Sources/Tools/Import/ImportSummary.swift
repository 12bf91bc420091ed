import Store

/// What an import did.
package struct ImportSummary: Equatable, Sendable {
  package let table: String
  /// The number of rows in the file.
  package let rows: Int
  package let inserted: Int
  package let updated: Int
  package let deleted: Int
  /// Whether the table was made.
  package let isNew: Bool
  /// Names and types of the table's columns.
  private let columns: [String]

  /// Columns that are listed; of a table with more, the others are counted.
  private static let listed = 12

  init(created definition: TableDefinition, rows: Int) {
    table = definition.name
    self.rows = rows
    inserted = rows
    updated = 0
    deleted = 0
    isNew = true
    columns = definition.columns.map { "\(identifierForPeople($0.name)) \($0.type)" }
  }

  init(merged table: String, rows: Int, inserted: Int, updated: Int, deleted: Int, columns: [(String, type: String)]) {
    self.table = table
    self.rows = rows
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    isNew = false
    self.columns = columns.map { $1.isEmpty ? identifierForPeople($0) : "\(identifierForPeople($0)) \($1)" }
  }
}

extension ImportSummary: CustomStringConvertible {
  /// One line, such as `554 rows into bank (id INTEGER, "Bank Name" TEXT)`.
  package var description: String {
    var list = columns.prefix(Self.listed).joined(separator: ", ")
    if columns.count > Self.listed { list += ", and \(columns.count - Self.listed) more columns" }
    let head = "\(rows) \(rows == 1 ? "row" : "rows") into \(identifierForPeople(table))"
    if isNew { return "\(head) (\(list))" }
    let kept = rows - inserted - updated
    return "\(head): \(inserted) inserted, \(updated) updated, \(deleted) deleted, \(kept) as they were (\(list))"
  }
}
