import LiveQuery
import Store

// Queries that are evaluated over changed rows themselves.
//
// A query that reads one table and nothing else gives, over the rows of that table that changed, exactly what it gives
// for their units. Capture has these rows already, so they need not be looked up (`CapturedRows`). The statement is the
// query's own, with the virtual table in the table's place; where a role has a shadow of the table, in the shadow's.
//
// Looking up remains for what reads other tables (joins, subqueries, filters with subqueries), for columns that are
// computed when they are read, and for names that only the table itself has: `main.well.name`, `INDEXED BY`.
extension QueryCompiler {
  /// How such a query is kept up to date, as a part of a sentence.
  static let captured = "a changed row is read from the pages that its commit wrote"
  /// As `captured`, but for a file with a rollback journal.
  static let compared = "a changed row is found by comparing the whole table with what is remembered of it"

  /// - Parameter selected: the SELECT up to its list.
  /// - Returns: nil when changed rows must be looked up.
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

  /// Whether SQL names a column by its schema.
  static func namesSchema(_ sql: String) -> Bool {
    let tokenizer = SQLTokenizer(sql)
    let tokens = tokenizer.filter { $0.kind != .comment }
    return tokens.indices.dropLast(3).contains { index in
      tokenizer.text(of: tokens[index + 1]) == "." && tokenizer.text(of: tokens[index + 3]) == "."
    }
  }
}
