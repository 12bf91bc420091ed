import Store

/// How to find which of many queries of one shape a unit concerns: SQLite searches a table of their parameters once.
package struct QueryRouting: Sendable {
  /// A column of the first table that `where` compares with a parameter for equality.
  struct Term: Sendable {
    var column: String
    /// The bit of the column in a mask.
    var mask: ColumnMask
    /// The number of the parameter.
    var parameter: Int
    /// The column's type and collation as SQL, so that a stored parameter has the value with which it is compared. Each
    /// term has its own copy of the parameter, because two columns may compare it differently.
    var declaration: String
    /// The column's index in the table.
    var index: Int
  }

  /// SQL for the changed rows of the first table (`CapturedRows`), in place of `fromSQL` and `whereSQL`.
  struct Captured: Sendable {
    var fromSQL: String
    var whereSQL: String
    /// The unit's values.
    var unitSQL: String
  }

  /// The terms. If there are any, an index leads from a row's values to the queries; otherwise one statement compares
  /// all queries.
  var terms: [Term]
  /// `from` and `where`, in which columns of the table of parameters replace the parameters. If there are terms, `from`
  /// is only the first table.
  var fromSQL: String
  var whereSQL: String
  /// SQL for changed rows; nil if rows must be looked up.
  var captured: Captured?
  /// The number of parameters of the unit: `?1`, `?2`, …
  var unitCount: Int
  var parameterCount: Int

  // Names that no column of a table in a client's query has, because USING, NATURAL and unqualified names refer to the
  // columns of all tables.
  static let table = "_freshet_route"
  static let query = "_freshet_query"
  static func term(_ index: Int) -> String { "\(table)._freshet_term_\(index)" }
  static func parameter(_ number: some StringProtocol) -> String { "\(table)._freshet_parameter_\(number)" }
}
