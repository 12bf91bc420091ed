import Store

/// How to find out which of many queries of one shape a unit concerns: by asking SQLite once, of a table of their
/// parameters.
package struct QueryRouting: Sendable {
  /// A column of the first table that `where` compares with a parameter for equality.
  struct Term: Sendable {
    var column: String
    /// The column's bit.
    var mask: ColumnMask
    /// Number of the parameter.
    var parameter: Int
    /// The column's type and collation as SQL, so that a stored parameter becomes what it is compared as. Each term has
    /// its own copy of the parameter: two columns may compare it otherwise.
    var declaration: String
    /// The column's index in the table.
    var index: Int
  }

  /// As above, for the changed rows of the first table (`CapturedRows`).
  struct Captured: Sendable {
    var fromSQL: String
    var whereSQL: String
    /// The unit's values.
    var unitSQL: String
  }

  /// When there are any, an index leads from a row's values to the queries; else all are compared, in one statement.
  var terms: [Term]
  /// `from` and `where`, with columns of the table of parameters for the parameters; of the first table alone when
  /// there are terms.
  var fromSQL: String
  var whereSQL: String
  /// Nil where rows must be looked up.
  var captured: Captured?
  /// How many parameters the unit has: `?1`, `?2`, …
  var unitCount: Int
  var parameterCount: Int

  // Names that no table of a client's query has a column of: USING, NATURAL and plain names find those of all tables.
  static let table = "_freshet_route"
  static let query = "_freshet_query"
  static func term(_ index: Int) -> String { "\(table)._freshet_term_\(index)" }
  static func parameter(_ number: some StringProtocol) -> String { "\(table)._freshet_parameter_\(number)" }
}
