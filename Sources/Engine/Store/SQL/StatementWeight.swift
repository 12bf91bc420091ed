package import LiveQuery

/// How much a statement could do without asking whether it may go on, as far as its text shows: SQLite asks
/// for nothing between two expressions of one row.
package struct StatementWeight {
  package init() {}

  /// How often functions are called, and columns of tables named, views and common tables written out.
  private(set) var calls = 0
  private(set) var columns = 0
  private(set) var functions: Set<String> = []
  /// Whether a pattern or a format cannot be read in the text (`PatternRules.isCostly`).
  package var isCostly = false

  static let mostCalls = 2_000
  /// SQLite compares conditions on columns in pairs.
  static let mostColumns = 5_000

  /// - Parameter table: the column's; a table-valued function is one too.
  package mutating func addColumn(of table: String) throws(FreshetError) {
    columns += 1
    if AllowedFunctions.tables.contains(table.lowercased()) { functions.insert(table.lowercased()) }
    if columns > Self.mostColumns {
      throw FreshetError(.tooLarge, "columns are named more than \(Self.mostColumns) times, with views written out")
    }
  }

  package mutating func addCall(of function: String) throws(FreshetError) {
    calls += 1
    functions.insert(function)
    if calls > Self.mostCalls {
      throw FreshetError(.tooLarge, "functions are called more than \(Self.mostCalls) times")
    }
  }

  /// Takes another statement of the same query into account.
  package mutating func formUnion(_ other: StatementWeight) {
    calls = max(calls, other.calls)
    columns = max(columns, other.columns)
    functions.formUnion(other.functions)
    isCostly = isCostly || other.isCostly
  }

  /// How long a value may be in the statement, in bytes. Simple statements, which are nearly all, read and make values
  /// of any length that `ConnectionLimits` allows.
  package var longestValue: Int32 {
    var result = ConnectionLimits.value
    // At most this much is compared, or gone through by a function that allocates nothing, in one row: a second or two.
    if calls > 64 { result = min(result, ConnectionLimits.value / Int32(calls) * 64) }
    if columns > 256 { result = min(result, ConnectionLimits.value / Int32(columns) * 256) }
    // A node takes twelve times its text, and a path goes through all nodes.
    if functions.contains(where: { $0.hasPrefix("json") || $0.hasPrefix("->") }) {
      result = min(result, Self.longestJSON)
    }
    // GLOB compares its pattern with every place of the text, and a format can be as long as a value.
    if isCostly { result = min(result, Self.longestOperand) }
    return result
  }

  static let longestJSON: Int32 = 2 << 20
  static let longestOperand: Int32 = 256 << 10
}
