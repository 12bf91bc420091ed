import LiveQuery
import Store

/// A subquery or view that a query's rows come from, and whose rows can be looked up by their unit: a partition of its
/// window functions, a group, a row of its first table, or values of columns of its result.
///
/// FROM (SELECT …, row_number() OVER (PARTITION BY customer ORDER BY total DESC, id) AS n FROM orders) WHERE n <= 3
/// FROM (SELECT customer FROM orders UNION SELECT customer FROM payments) The restriction to a unit is placed inside
/// the subquery, so that outer conditions, such as `n <= 3`, apply to rows that are numbered already.
struct InnerSource {
  /// The SELECTs that it consists of, each with the unit that is looked up in it.
  let arms: [InnerSelect]
  let operators: [SelectStatement.SetOperator]
  private let qualifier: String

  /// Whether the unit is the key of the first table.
  var isKey: Bool {
    switch arms[0].compiler.unit {
    case .baseKey: true
    case .inner(let source): source.isKey
    default: false
    }
  }

  fileprivate init(_ arms: [InnerSelect], _ operators: [SelectStatement.SetOperator], qualifier: String?) {
    self.arms = arms
    self.operators = operators
    self.qualifier = qualifier ?? QueryCompiler.nameless
  }

  private static func column(_ index: Int) -> String { "\(ReservedNames.prefix)unit_\(index)" }

  /// The values of a row's unit, in the outer query. Values of several SELECTs may have different types, so they are
  /// compared without conversion.
  var outerUnit: [(sql: String, order: FieldOrder)] {
    arms[0].compiler.unitExpressions.enumerated().map { index, unit in
      ("\(arms.count > 1 ? "+" : "")\(qualifier).\(Self.column(index))", unit.order)
    }
  }

  /// The SQL that replaces the source in FROM, with the unit's values as further columns.
  ///
  /// - Parameter first: the number of the first parameter with the values of the only wanted unit; nil if all units are
  ///   wanted.
  func sql(first: Int? = nil) -> String {
    let texts = arms.map { arm in
      let units = first.map { [arm.compiler.unitCondition(arm.compiler.unitExpressions, first: $0)] }
      return arm.sql(adding: Self.named(arm), conditions: units ?? [], first)
    }
    return "(\(texts.joined(with: operators)))"
  }

  /// As above, restricted to rows that have some of the given values in a column.
  ///
  /// - Parameters:
  ///   - column: the number of the column.
  ///   - values: a SELECT that returns the values.
  /// - Returns: nil if the whole source would have to be computed for that.
  func sql(column: Int, in values: String) -> String? {
    let conditions = arms.compactMap { $0.condition(column: column, in: values) }
    guard conditions.count == arms.count else { return nil }
    let texts = zip(arms, conditions).map { $0.sql(adding: Self.named($0), conditions: [$1]) }
    return "(\(texts.joined(with: operators)))"
  }

  private static func named(_ arm: InnerSelect) -> String {
    arm.compiler.unitExpressions.enumerated().map { ", (\($1.sql)) AS \(column($0))" }.joined()
  }
}

/// A SELECT within the query, divided into its parts.
struct InnerSelect {
  var compiler: QueryCompiler
  /// The expressions of its columns.
  let columns: [String]
  /// Their names in the result.
  let names: [String]
  let filter: String?
  /// GROUP BY and HAVING.
  let end: String

  /// - Parameters:
  ///   - first: the number of the first parameter with the values of the only wanted unit; nil if all units are wanted.
  func sql(adding list: String = "", conditions: [String], _ first: Int? = nil) -> String {
    let named = zip(columns, names).map { "\($0) AS \(quotedIdentifier($1))" }.joined(separator: ", ")
    let all = (filter.map { ["(\($0))"] } ?? []) + conditions
    let filter = all.isEmpty ? "" : " WHERE \(all.joined(separator: " AND "))"
    return "SELECT \(named)\(list) FROM \(compiler.rowsSQL(first: first))\(filter)\(end)"
  }

  /// How values of a column are encoded as a unit, if the rows with one value can be computed separately; nil if they
  /// cannot.
  func order(ofUnit sql: String) -> FieldOrder? {
    if let group = compiler.groups.first(where: { $0.sql == sql }) { return group.order }
    if !compiler.groups.isEmpty || compiler.hasAggregate { return nil }
    if compiler.hasWindow { return compiler.partition().first { $0.sql == sql }?.order }
    let collation = try? compiler.collation(of: sql, place: "", isRow: true)
    return collation.map { FieldOrder(collation: $0) }
  }
}

extension InnerSelect {
  /// Types of values that the affinity of a column does not change.
  fileprivate enum ValueType: Hashable {
    case null, unknown
    case of(Affinity)
  }

  fileprivate func type(ofColumn place: Int) -> ValueType { type(of: columns[place]) }

  private func type(of sql: String) -> ValueType {
    guard let fragment = try? SQLFragment(sql, place: "") else { return .unknown }
    let (tokens, text) = (fragment.tokens, fragment.text(of: fragment.tokens.indices))
    if fragment.endOfParenthesis(openedAt: 0) == tokens.count {
      return type(of: fragment.text(of: 1..<tokens.count - 1))
    }
    if let affinity = compiler.affinity(of: fragment) { return .of(affinity) }
    if tokens.count == 1 {
      switch tokens[0].kind {
      case .string: return .of(.text)
      case .number: return .of(Int64(text) == nil ? .real : .integer)
      default: return fragment.keyword(at: 0) == "NULL" ? .null : .unknown
      }
    }
    // Arithmetic on numbers of the same type has a result of this type.
    let signs = fragment.outermost(tokens.indices).filter { ["+", "-", "*"].contains(fragment.text(of: tokens[$0])) }
    if signs.isEmpty { return .unknown }
    let parts = zip([-1] + signs, signs + [tokens.count]).map { $0 + 1..<$1 }.filter { !$0.isEmpty }
    let types = Set(parts.map { type(of: fragment.text(of: $0)) })
    return types.count > 1 || types.first == .of(.text) ? .unknown : types.first ?? .unknown
  }
}

extension [String] {
  /// SELECTs combined into one statement.
  func joined(with operators: [SelectStatement.SetOperator]) -> String {
    enumerated().map { $0 == 0 ? $1 : "\(operators[$0 - 1].rawValue) \($1)" }.joined(separator: " ")
  }
}

extension QueryCompiler {
  /// The query's one source, if it is a subquery or view with windows or groups.
  func innerSource() throws(FreshetError) -> InnerSource? {
    guard let source = from.sources.first, let selects = try innerSelects(of: source) else { return nil }
    var arms = selects.arms
    if arms.count == 1 {
      arms[0].compiler.unit = arms[0].compiler.chooseUnit()
    } else {
      let areAll = selects.operators.allSatisfy { $0 == .unionAll }
      guard let units = unitColumns(of: arms) ?? (areAll ? sideUnits(of: arms) : nil) else { return nil }
      for index in arms.indices { arms[index].compiler.unit = .partitions(units[index]) }
    }
    if arms.contains(where: { $0.compiler.unitExpressions.isEmpty }) { return nil }
    return InnerSource(arms, selects.operators, qualifier: source.qualifier)
  }

  /// The SELECTs that a source consists of; nil if not all of them are understood.
  func innerSelects(
    of source: FromClause.Source
  ) throws(FreshetError) -> (arms: [InnerSelect], operators: [SelectStatement.SetOperator])? {
    guard let select = innerSelect(of: source) else { return nil }
    let names = try compile("SELECT * FROM \(from.fragment.text(of: source.body))", place: nil).statement.columnNames
    var arms: [InnerSelect] = []
    for core in select.cores {
      guard let arm = try innerSelect(core, names) else { return nil }
      arms.append(arm)
    }
    // If a column has values of several types, their conversion depends on how SQLite runs the query.
    for place in names.indices where arms.count > 1 {
      if Set(arms.map { $0.type(ofColumn: place) }).subtracting([.null]).count > 1 { return nil }
    }
    return (arms, select.operators)
  }

  /// - Parameter names: the names of the result's columns.
  func innerSelect(_ core: SelectStatement.Core, _ names: [String]) throws(FreshetError) -> InnerSelect? {
    guard core.isRows, let clause = core.from else { return nil }
    let fragment = { (text: String) throws(FreshetError) in try SQLFragment(text, place: "from") }
    var inner = fragments.empty
    inner.from = try FromClause(clause)
    inner.filter = try core.filter.map(fragment)
    inner.having = try core.having.map(fragment)
    inner.groupBy = try groupTerms(of: core).map(fragment)
    inner.select = try core.columns.map { column throws(FreshetError) in (try fragment(column), try fragment(column)) }
    var compiler = try QueryCompiler(inner, of: self)
    try compiler.readGroups()
    let columns = try compiler.selectedColumns().map(\.sql)
    if columns.count != names.count || (core.isDistinct && (compiler.hasAggregate || compiler.hasWindow)) { return nil }
    let filter = try inner.filter.map { filter throws(FreshetError) in
      try compiler.expression(filter, isRow: true).sql
    }
    let having = try inner.having.map { having throws(FreshetError) in try compiler.expression(having).sql }
    let end = compiler.grouping + (having.map { " HAVING (\($0))" } ?? "")
    return InnerSelect(compiler: compiler, columns: columns, names: names, filter: filter, end: end)
  }

  /// The terms of a SELECT's groups. DISTINCT groups by all columns.
  func groupTerms(of core: SelectStatement.Core) throws(FreshetError) -> [String] {
    guard core.isDistinct, let from = core.from else { return core.groupBy.map(ResultColumns(core).ordinal) }
    // A constant is left out, because a number in GROUP BY would refer to a column.
    return try expressions(of: core, from).filter { Int($0.filter { !"()+- ".contains($0) }) == nil }
  }

  private typealias Unit = [(sql: String, order: FieldOrder)]

  /// Columns of the result that can be the unit of SELECTs combined by set operators: each SELECT can be restricted to
  /// values of these columns. Combining the restricted SELECTs gives the same rows as restricting the combined result.
  ///
  /// - Returns: the columns' expressions in each SELECT; nil if there is no such unit.
  private func unitColumns(of arms: [InnerSelect]) -> [Unit]? {
    for arm in arms {
      switch arm.compiler.chooseUnit() {
      case .none, .inner, .everything: return nil
      case .baseKey, .groups, .partitions: break
      }
    }
    let places = arms[0].columns.indices.filter { place in
      let orders = arms.map { arm in
        arm.compiler.isOfBase(arm.columns[place]) ? arm.order(ofUnit: arm.columns[place]) : nil
      }
      return orders.allSatisfy { $0 != nil && $0 == orders[0] }
    }
    let key = fragments.key.compactMap { $0.numbered.tokens.last.flatMap($0.numbered.name(of:)) }
    let names = arms[0].names
    let ofKey = places.filter { place in key.contains { isSameName($0, names[place]) } }
    let isVaried = { (places: [Int]) in
      arms.allSatisfy { arm in
        places.contains { (try? compile("SELECT (\(arm.columns[$0]))", place: nil)) == nil }
      }
    }
    let chosen = isVaried(ofKey) ? ofKey : places
    if !isVaried(chosen) { return nil }
    return arms.map { arm in
      chosen.map { (arm.columns[$0], arm.order(ofUnit: arm.columns[$0]) ?? .identity) }
    }
  }

  /// Units of SELECTs that are combined by UNION ALL: the SELECT's number, and its own unit. Shorter units are filled
  /// up with NULL.
  private func sideUnits(of arms: [InnerSelect]) -> [Unit]? {
    var units: [Unit] = []
    for (index, arm) in arms.enumerated() {
      var compiler = arm.compiler
      compiler.unit = compiler.chooseUnit()
      switch compiler.unit {
      case .none, .inner, .everything: return nil
      case .baseKey, .groups, .partitions: units.append([("\(index)", .identity)] + compiler.unitExpressions)
      }
    }
    let count = units.map(\.count).max() ?? 0
    for index in units.indices {
      units[index] += Array(repeating: ("NULL", .identity), count: count - units[index].count)
    }
    let orders = units.map { $0.map(\.order) }
    return orders.allSatisfy { $0 == orders[0] } ? units : nil
  }
}
