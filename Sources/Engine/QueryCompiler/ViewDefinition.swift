import LiveQuery
import Store

/// A view that is no more than columns of joined tables, taken apart: changes of those tables can then be mapped to its rows.
///
/// Views with aggregates, DISTINCT, LIMIT, compounds or WITH are not taken apart: they are run again.
struct ViewDefinition {
  /// The expressions of its columns, in order; a `*` is one item.
  let items: [SQLFragment]
  /// The text after FROM.
  let from: FromClause
  /// Its WHERE, when it has one.
  let filter: SQLFragment?

  /// - Parameter sql: the CREATE VIEW statement.
  init?(sql: String) {
    guard let select = SelectStatement(ViewText(sql).select), select.isRowsAlone,
      let core = select.cores.first, let from = core.from.flatMap({ try? FromClause($0) })
    else { return nil }
    items = core.columns.compactMap { try? SQLFragment($0, place: "view") }
    filter = core.filter.flatMap { try? SQLFragment($0, place: "view") }
    self.from = from
    let isRead = items.count == core.columns.count && (filter != nil) == (core.filter != nil)
    // A window function is one of other rows.
    if !isRead || items.contains(where: { item in item.tokens.indices.contains { item.keyword(at: $0) == "OVER" } }) {
      return nil
    }
  }
}

// A query whose `from` is one such view, and whose key is made of the view's first table.
extension QueryCompiler {
  /// How a view's rows are found: its key columns in its own terms, and in those of the clause that it is made of.
  struct ViewUnit {
    var definition: ViewDefinition
    /// As expressions of the query, with how they are encoded.
    var columns: [(sql: String, order: FieldOrder)]
    /// What they are in the view's first table.
    var expressions: [String]
    /// All of the view's columns, by lower-case name, as expressions of what it is made of.
    var definitions: [String: String]
  }

  func viewUnit() -> ViewUnit? {
    guard from.sources.count == 1, let view = from.sources[0].table.flatMap(schema.table), view.kind == .view,
      let definition = view.definition.flatMap(ViewDefinition.init(sql:)), !fragments.key.isEmpty,
      checker.role.shadows[view.name.lowercased()]?.isRestricting != true, let columnNames = columnNames(of: view),
      definition.from.sources.allSatisfy({ isPlain($0) }), !definition.from.isNatural,
      let expressions = expressions(of: definition, count: columnNames.count),
      let first = try? definition.from.prefix(through: 0, { _ in nil })
    else { return nil }
    let names = columnNames.map { $0.lowercased() }
    var unit = ViewUnit(
      definition: definition, columns: [], expressions: [],
      definitions: Dictionary(zip(names, expressions)) { first, _ in first })
    for fragment in fragments.key {
      guard let name = fragment.numbered.tokens.last.flatMap(fragment.numbered.name(of:)),
        let index = columnNames.firstIndex(where: { isSameName($0, name) }),
        isPlainReference(fragment.numbered),
        // It reads the first table alone, so that it does not change with any other table of the clause.
        (try? compile("SELECT 1 FROM \(first) WHERE (\(expressions[index])) IS NULL", place: nil)) != nil
      else { return nil }
      let column = "\(from.sources[0].qualifier ?? "").\(quotedIdentifier(columnNames[index]))"
      guard let collation = try? checker.collation(of: column, from: fromSQL, place: "key", mayChange: mayChange) else {
        return nil
      }
      unit.columns.append((column, FieldOrder(collation: collation)))
      unit.expressions.append(expressions[index])
    }
    return unit
  }

  /// A view of all columns of a table has fewer where some are withheld.
  private func columnNames(of view: DatabaseSchema.Table) -> [String]? {
    isShadowed(view)
      ? try? compile("SELECT * FROM \(reference(to: view))", place: nil).statement.columnNames : view.columnNames
  }

  private func isPlain(_ source: FromClause.Source) -> Bool {
    source.join != .outer && source.table.flatMap(schema.table)?.kind == .table
  }

  private func isPlainReference(_ fragment: SQLFragment) -> Bool {
    [1, 3, 5].contains(fragment.tokens.count)
      && stride(from: 1, to: fragment.tokens.count, by: 2).allSatisfy { fragment.text(of: fragment.tokens[$0]) == "." }
  }

  /// The expressions of a view's columns, each of single rows; nil when one is not.
  private func expressions(of definition: ViewDefinition, count: Int) -> [String]? {
    let sql = definition.from.fragment.text
    var expressions: [String] = []
    for item in definition.items {
      if item.text(of: item.tokens[item.tokens.count - 1]) == "*" {
        guard let names = try? compile("SELECT \(item.text) FROM \(sql)", place: nil).statement.columnNames else {
          return nil
        }
        let qualifier = item.tokens.count == 3 ? item.text(of: item.tokens[0]) + "." : ""
        expressions += names.map { qualifier + quotedIdentifier($0) }
        continue
      }
      guard let body = try? viewItem(item, sql) else { return nil }
      expressions.append(body)
    }
    return expressions.count == count ? expressions : nil
  }

  /// An item without the name that it is given.
  private func viewItem(_ item: SQLFragment, _ from: String) throws(FreshetError) -> String? {
    for length in [item.tokens.count, item.tokens.count - 1, item.tokens.count - 2] where length > 0 {
      let text = item.text(of: 0..<length)
      if (try? compile("SELECT 1 FROM \(from) WHERE (\(text)) IS NULL", place: nil)) != nil { return text }
    }
    return nil
  }
}
