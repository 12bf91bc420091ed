package import LiveQuery

/// How much a statement could do without checking the budget, estimated from its text. SQLite does not check anything
/// between two expressions of one row.
package struct StatementWeight {
  package init() {}

  /// The number of function calls, and of names of tables' columns, with views and common tables expanded.
  private(set) var calls = 0
  private(set) var columns = 0
  private(set) var functions: Set<String> = []
  /// Whether a pattern or a format is not a literal in the text (`PatternRules.isCostly`).
  package var isCostly = false

  static let mostCalls = 2_000
  /// The most names of columns, because SQLite compares conditions on columns in pairs.
  static let mostColumns = 5_000

  /// - Parameter table: the column's table, or a table-valued function.
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

  /// The longest value that the statement may read or make, in bytes. For simple statements, which nearly all are, it
  /// is the limit of `ConnectionLimits`.
  package var longestValue: Int32 {
    var result = ConnectionLimits.value
    // Limits what functions that allocate nothing may compare or scan in one row, so that it takes at most a second or
    // two.
    if calls > 64 { result = min(result, ConnectionLimits.value / Int32(calls) * 64) }
    if columns > 256 { result = min(result, ConnectionLimits.value / Int32(columns) * 256) }
    // A parsed JSON value takes twelve times the memory of its text, and a path goes through all of its nodes.
    if functions.contains(where: { $0.hasPrefix("json") || $0.hasPrefix("->") }) {
      result = min(result, Self.longestJSON)
    }
    // GLOB compares its pattern with every position of the text, and a format can be as long as a value.
    if isCostly { result = min(result, Self.longestOperand) }
    return result
  }

  static let longestJSON: Int32 = 2 << 20
  static let longestOperand: Int32 = 256 << 10
}
