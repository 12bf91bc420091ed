import LiveQuery
import Store

/// How a changed row of a table leads to the units that it can concern.
///
/// The units are those of the rows that the table's row joins. They are looked up in FROM up to that table, with the
/// row as it is now, and with the former values of the columns that it is joined by. Finding too many units is
/// harmless, because looking a unit up again changes nothing. This is enough even if several rows changed at once: for
/// a unit whose rows have changed, consider the first table in FROM at which they differ. The tables before it are
/// unchanged, so the row that was inserted or deleted there joins the same rows in the present state as before.
package struct UnitMapping: Sendable {
  /// Whether the row's own key is the unit.
  var isUnit: Bool
  /// Whether the table is the first one, and the units are its groups or partitions.
  var isOfFirstTable = false
  /// Selects the units that the row leads to now. The row's key is the parameters from `firstParameter` on.
  var newSQL: String?
  /// Selects the units that the row led to before. `oldValues` are the parameters from `firstParameter` on. Nil if
  /// these units cannot be determined.
  var oldSQL: String?
  var firstParameter: Int32
  var oldValues: [OldValue]
  /// The columns that the row is joined by. If they do not change, the row's units do not change.
  var joinColumns: ColumnMask

  enum OldValue: Sendable {
    case key(Int)
    /// A column, by its index in the table.
    case column(Int)
  }

  /// The columns among `oldValues`, by index.
  var oldColumns: [Int] { oldValues.compactMap { if case .column(let column) = $0 { column } else { nil } } }
}

/// How changed rows of tables in a subquery lead to the units that they can concern.
package struct NestedMapping: Sendable {
  /// Lower-case names of the tables that are replaced by their changed rows.
  package var tables: [String]
  /// The lower-case names of all tables in the subquery, in their order.
  var places: [String]
  /// The SQL that selects the units.
  var sql: String
}
