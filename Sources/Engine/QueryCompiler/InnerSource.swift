import LiveQuery
import Store

/// A subquery, or a view, that a query's rows come from, and whose own rows can be found by the unit that gives them: a partition of its window
/// functions, a group, or a row of its first table.
///
///     FROM (SELECT …, row_number() OVER (PARTITION BY customer ORDER BY total DESC, id) AS n FROM orders) WHERE n <= 3
///
/// The query is restricted to a unit in there: what is outside, such as `n <= 3`, sees rows that are numbered already.
struct InnerSource {
  /// Where its rows come from.
  let from: FromClause
  let filter: SQLFragment?
  /// What gives its rows, in terms of `from`.
  let unit: [(sql: String, order: FieldOrder)]
  /// Whether that is the key of the first table.
  let isKey: Bool
  private let equality: String
  /// Its columns, with their names.
  private let columns: String
  /// GROUP BY and HAVING.
  private let end: String
  private let qualifier: String

  fileprivate init(
    _ compiler: QueryCompiler, columns: String, filter: SQLFragment?, end: String, qualifier: String?
  ) {
    from = compiler.from
    self.filter = filter
    unit = compiler.unitExpressions
    if case .baseKey = compiler.unit { isKey = true } else { isKey = false }
    equality = compiler.operatorOfUnit
    self.columns = columns
    self.end = end
    self.qualifier = qualifier ?? ReservedNames.prefix + "rows"
  }

  private static func column(_ index: Int) -> String { "\(ReservedNames.prefix)unit_\(index)" }

  /// The values of a row's unit, outside.
  var outerUnit: [(sql: String, order: FieldOrder)] {
    unit.enumerated().map { ("\(qualifier).\(Self.column($0))", $1.order) }
  }

  /// What stands in its place in FROM, with those values.
  ///
  /// - Parameter first: the first of the parameters that hold the only unit wanted; nil: all are.
  func sql(first: Int? = nil) -> String {
    let units = unit.enumerated().map { ", (\($1.sql)) AS \(Self.column($0))" }.joined()
    var conditions = filter.map { ["(\($0.text))"] } ?? []
    if let first { conditions += unit.enumerated().map { "(\($1.sql)) \(equality) ?\(first + $0)" } }
    let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    return "(SELECT \(columns)\(units) FROM \(from.fragment.text)\(filter)\(end)) AS \(qualifier)"
  }
}

extension QueryCompiler {
  /// The query's one source, if it is such a one, with what was found out about its tables.
  func innerSource() throws(FreshetError) -> (InnerSource, QueryCompiler)? {
    guard from.sources.count == 1, let select = innerSelect(of: from.sources[0]), select.isRows,
      let core = select.cores.first, let clause = core.from
    else { return nil }
    let fragment = { (text: String) throws(FreshetError) in try SQLFragment(text, place: "from") }
    let result = ResultColumns(core)
    var inner = fragments.empty
    inner.from = try FromClause(clause)
    inner.filter = try core.filter.map(fragment)
    inner.having = try core.having.map(fragment)
    inner.groupBy = try core.groupBy.map { term throws(FreshetError) in try fragment(result.ordinal(term)) }
    inner.select = try core.columns.map { column throws(FreshetError) in (try fragment(column), try fragment(column)) }
    var compiler = try QueryCompiler(inner, of: self)
    try compiler.readGroups()
    let columns = try compiler.selectedColumns()
    let filter = try inner.filter.map { filter throws(FreshetError) in
      try fragment(compiler.expression(filter, isRow: true).sql)
    }
    let having = try inner.having.map { having throws(FreshetError) in try compiler.expression(having).sql }
    compiler.unit = compiler.chooseUnit()
    // What is nested more than once is flattened, or run again.
    if case .inner = compiler.unit { return nil }
    let names = try compile("SELECT * FROM \(fromSQL)", place: nil).statement.columnNames
    if compiler.unitExpressions.isEmpty || names.count != columns.count { return nil }
    let list = zip(columns, names).map { "\($0.sql) AS \(quotedIdentifier($1))" }.joined(separator: ", ")
    let source = InnerSource(
      compiler, columns: list, filter: filter, end: compiler.grouping + (having.map { " HAVING (\($0))" } ?? ""),
      qualifier: from.sources[0].qualifier)
    return (source, compiler)
  }
}
