import LiveQuery
import Store

// Evaluates queries over the changed rows themselves.
//
// If a query reads only one table, its result over the changed rows of that table is exactly the result for their
// units. Capture has these rows already, so they need not be looked up (`CapturedRows`). The statement is the query's
// own, with the virtual table in place of the table, or of the table's shadow if the role has one.
//
// Looking up is still needed for queries that read other tables (joins, subqueries, filters with subqueries), for
// columns that are computed when they are read, and for names that only the table itself has: `main.well.name`,
// `INDEXED BY`.
extension QueryCompiler {
  /// A part of a sentence that says how such a query is kept up to date.
  static let captured = "a changed row is read from the pages that its commit wrote"
  /// As `captured`, but for a file with a rollback journal.
  static let compared = "a changed row is found by comparing the whole table with what is remembered of it"

  /// - Parameter selected: the SELECT up to the list of its columns.
  /// - Returns: nil if changed rows must be looked up.
  func capturedSQL(_ selected: String, filter: String?) throws(FreshetError) -> String? {
    guard case .baseKey = unit, groups.isEmpty, fragments.having == nil, nested.isEmpty, from.sources.count == 1,
      let table = baseTable, let storage = table.storage, let source = from.sources.first,
      let qualifier = source.qualifier, isPlain(source), !fragments.rowTexts.contains(where: QueryCompiler.namesSchema)
    else { return nil }
    let condition = filter.map { " WHERE (\($0))" } ?? ""
    if storage.computedColumns != .none {
      var read = masks(of: try compile("\(selected) FROM \(fromSQL)\(condition)", place: nil).reads)
      read.formUnion(filterReads.masks)
      if read[table.name.lowercased()]?.intersects(storage.computedColumns) == true { return nil }
    }
    let shadows = checker.role.shadows(for: fragments.rowTexts)
    if shadows.isEmpty {
      return "\(selected) FROM \(CapturedRows.reference(to: table.name)) AS \(qualifier)\(condition)"
    }
    guard shadows.count == 1, isSameName(shadows[0].name, table.name) else { return nil }
    let sql = "\(selected) FROM \(fromSQL)\(condition)"
    let rows = filterReads.filters[table.name.lowercased()]?.text
    if let rows, QueryCompiler.namesSchema(rows) { return nil }
    return "WITH \(shadows[0].capturedExpression(filter: rows, isFirst: FailingCalls.areIn(sql))) \(sql)"
  }

  /// Whether the source is a table's name, optionally with an alias, without `INDEXED BY`.
  func isPlain(_ source: FromClause.Source) -> Bool {
    let extra = source.named.count - source.body.count
    return extra == (source.isNamed ? (from.fragment.keyword(at: source.body.upperBound) == "AS" ? 2 : 1) : 0)
  }

  /// Whether SQL names a column together with its schema.
  static func namesSchema(_ sql: String) -> Bool {
    let tokenizer = SQLTokenizer(sql)
    let tokens = tokenizer.filter { $0.kind != .comment }
    return tokens.indices.dropLast(3).contains { index in
      tokenizer.text(of: tokens[index + 1]) == "." && tokenizer.text(of: tokens[index + 3]) == "."
    }
  }
}
