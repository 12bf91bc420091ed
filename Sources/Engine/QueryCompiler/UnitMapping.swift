import LiveQuery
import Store

/// How a changed row of a table leads to the units that it can concern.
///
/// The units are those of the rows that the table's row joins, looked up in the clause up to that table: with the row
/// as it is now, and with the old values of the columns that it is joined by. More than that is harmless, because
/// looking a unit up again changes nothing. It suffices, also when several rows changed at once: take, for a unit whose
/// rows have changed, the first table in the clause at which they did. Up to that table everything is as it was, so the
/// row that came or went there joins, in the present state, with what it joined with before.
package struct UnitMapping: Sendable {
  /// The row's own key is the unit.
  var isUnit: Bool
  /// Whether the row is one of the first table's, whose groups or partitions are the units.
  var isOfFirstTable = false
  /// Units that the row leads to now; the row's key is the parameters from `firstParameter` on.
  var newSQL: String?
  /// Units that it led to; the parameters from `firstParameter` on are `oldValues`. Nil: they cannot be found out.
  var oldSQL: String?
  var firstParameter: Int32
  var oldValues: [OldValue]
  /// The columns by which the row is joined: while they stay, its units stay.
  var joinColumns: ColumnMask

  enum OldValue: Sendable {
    case key(Int)
    /// By index among the table's columns.
    case column(Int)
  }

  /// The columns among `oldValues`, by index.
  var oldColumns: [Int] { oldValues.compactMap { if case .column(let column) = $0 { column } else { nil } } }
}

/// How changed rows of tables in a subquery lead to the units that they can concern.
package struct NestedMapping: Sendable {
  /// Lower-case names of the tables in whose place their changed rows stand.
  package var tables: [String]
  /// The places of all its occurrences in the subquery.
  var places: [String]
  /// Gives the units.
  var sql: String
}
