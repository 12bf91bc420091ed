import LiveQuery
import Store

// Describes the order of rows by the result's columns, for clients that find the places of new rows.
extension QueryCompiler {
  /// - Parameter key: how key columns break ties; empty if they do so by their bytes.
  func rowOrder(
    _ columns: [OutputColumn], key: [(column: Int, order: FieldOrder)], keyCount: Int, _ sorts: [SortExpression],
    _ section: SectionExpression?
  ) -> RowOrder {
    var order = RowOrder()
    order.terms = zip(fragments.orderBy, sorts).map { term(of: $0.expression, $1.order, columns, isWhole: true) }
    let keyOrders = key.isEmpty ? Array(repeating: FieldOrder.identity, count: keyCount) : key.map(\.order)
    order.terms += zip(columns, keyOrders).map { column, order in
      var term = RowOrder.Term(order)
      term.column = column.name
      return term
    }
    guard let section, let by = fragments.section else { return order }
    order.sortsSections = section.name == nil
    order.section = term(
      of: fragments.sectionName ?? by, section.name == nil ? section.order : .identity, columns, isWhole: false)
    return order
  }

  /// - Parameter isWhole: whether an alias of `select` takes precedence over a table's column.
  private func term(
    of expression: SQLFragment, _ order: FieldOrder, _ columns: [OutputColumn], isWhole: Bool
  ) -> RowOrder.Term {
    var term = RowOrder.Term(order)
    term.column = column(expression, columns, prefersAlias: isWhole)
    if term.column != nil { return term }
    var (argument, calls) = (expression, [RowOrder.Call]())
    if argument.keyword(at: -2) == "COLLATE", let body = try? argument.prefix(argument.tokens.count - 2) {
      argument = body
    }
    while let (call, inner) = argument.call {
      calls.insert(call, at: 0)
      argument = inner
    }
    term.column = column(argument, columns)
    if term.column == nil, let reference = trustedReference(argument) {
      term.source = "\(from.sources[reference.source].name ?? "").\(reference.column)"
    }
    if term.column != nil || term.source != nil { term.calls = calls }
    return term
  }

  /// The result's column that has the value of an expression.
  private func column(_ expression: SQLFragment, _ columns: [OutputColumn], prefersAlias: Bool = false) -> String? {
    if expression.tokens.count == 1, let name = expression.name(of: expression.tokens[0]),
      prefersAlias || !isColumn(name), let alias = aliases[name.lowercased()]
    {
      return columns.first { $0.sql == alias }?.name
    }
    if let reference = trustedReference(expression) { return columns.first { $0.reference == reference }?.name }
    // Two expressions with time or random numbers may differ even if their texts are equal.
    guard !mayChange, let sql = try? rewritten(expression) else { return nil }
    return columns.first { $0.sql == sql || $0.sql == columnOfSubquery(expression) }?.name
  }

  /// A column given by its name alone, if the query reads only one subquery. Columns of subqueries are otherwise
  /// qualified.
  private func columnOfSubquery(_ expression: SQLFragment) -> String? {
    guard from.sources.count == 1, from.sources[0].table == nil, expression.tokens.count == 1,
      let name = expression.name(of: expression.tokens[0]), let qualifier = from.sources[0].qualifier
    else { return nil }
    return try? rewritten(SQLFragment("\(qualifier).\(quotedIdentifier(name))", place: expression.place))
  }

  /// The column that an expression consists of. Also nil if RIGHT and FULL joins may take the value of a plain name
  /// from either side.
  private func trustedReference(_ expression: SQLFragment) -> ColumnReference? {
    from.sources.allSatisfy { $0.join != .outer } ? reference(expression) : nil
  }
}

extension RowOrder.Term {
  fileprivate init(_ order: FieldOrder) {
    self.init()
    collation = order.collation
    isDescending = order.isDescending
    areNullsFirst = order.areNullsFirst
  }
}

extension SQLFragment {
  /// The function that the fragment calls, and its argument: `upper(x)`, `lower(x)`, `substr(x, 1, 2)`.
  fileprivate var call: (RowOrder.Call, SQLFragment)? {
    let end = tokens.count - 1
    guard end > 2, let function = keyword(at: 0), endOfParenthesis(openedAt: 1) == tokens.count else { return nil }
    let commas = commas(in: 2..<end)
    let rest = zip(commas, commas.dropFirst() + [end]).map { Int(text(of: $0 + 1..<$1)) ?? -1 }
    guard let argument = try? SQLFragment(text(of: 2..<(commas.first ?? end)), place: place) else { return nil }
    switch function {
    case "UPPER" where rest.isEmpty: return (.upper, argument)
    case "LOWER" where rest.isEmpty: return (.lower, argument)
    case "SUBSTR", "SUBSTRING":
      guard let start = rest.first, start > 0, rest.count < 3, rest.allSatisfy({ $0 >= 0 }) else { return nil }
      return (.substr(start: start, length: rest.count > 1 ? rest[1] : nil), argument)
    default: return nil
    }
  }
}
