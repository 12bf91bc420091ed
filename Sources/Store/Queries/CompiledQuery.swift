package import LiveQuery

/// A query that SQLite has accepted, as the statements that answer it.
///
/// Both statements give the same columns: section value and index title (when there are sections and an expression for
/// titles), the sort values, the base key (when the query's key is another one), then the result's columns, key first.
package struct CompiledQuery: Sendable {
  /// The table that is followed.
  package var table: TrackedTable
  /// The result's columns as clients see them, key columns first.
  package var columns: [String]
  package var keyColumns: [String]
  package var limit: Int?

  /// Every row of the result, in no particular order.
  var scanSQL: String
  /// The rows of the result with one base key, whose values are the parameters from `firstKeyParameter` on.
  var rowSQL: String
  var firstKeyParameter: Int32
  /// Values of the parameters `?1`, `?2`, …
  var parameters: [SQLValue]

  /// How the section value sorts; nil without sections.
  var section: FieldOrder?
  var hasIndexTitle: Bool
  var sorts: [FieldOrder]
  /// How the key columns break ties: those that are not BINARY, by index into `columns`.
  var keyTies: [(column: Int, order: FieldOrder)]
  /// Whether the query's key is what identifies a row of the table.
  package var isKeyOfTable: Bool
  var baseKeyCount: Int

  /// By result column, the table's columns that it is made of.
  package var dependencies: [ColumnMask]
  /// All columns of the table that the query uses: changes of others are passed over.
  package var usedColumns: ColumnMask

  /// Index of the first of the result's columns in a row of either statement.
  var firstColumn: Int {
    (section == nil ? 0 : 1) + (hasIndexTitle ? 1 : 0) + sorts.count + (isKeyOfTable ? 0 : baseKeyCount)
  }
}

extension CompiledQuery {
  /// The result's columns that a change of these columns of the table can have changed.
  package func changedColumns(_ mask: ColumnMask) -> ColumnSet {
    var set = ColumnSet()
    for (index, dependency) in dependencies.enumerated() where dependency.intersects(mask) { set.insert(index) }
    return set
  }
}
