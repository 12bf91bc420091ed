import ChangeCapture
package import LiveQuery
package import Store

/// A query that SQLite has accepted: how its result is read, and how changes reach it. It does not contain the
/// parameters' values, so all queries of one shape share it. It is a class, because it is read for every change, and a
/// structure with so many members would be copied each time.
package final class CompiledQuery: Sendable {
  /// How changes of tables reach the result's rows.
  struct Following: Sendable {
    var tables: [QueryTable]
    var dependencies: [[Int: ColumnMask]]
    var joinColumns: [Int: ColumnMask]
    var choosingColumns: [Int: ColumnMask]
    var routing: QueryRouting?
    var nestedMappings: [NestedMapping] = []
    /// The parts of the query.
    var relation: Explanation.Relation?
  }

  package let plan: ResultPlan
  /// See `ResultPlan.Rows`.
  package var shown: Range<Int> { plan.rows.shown }
  package let refreshEvery: Duration?
  /// Names of the parameters `?1`, `?2`, …; nil for parameters given by position.
  let parameterNames: [String?]
  /// The result's columns as clients see them, key columns first.
  package let columns: [String]
  package let keyColumns: [String]
  package let order: RowOrder
  package let alongside: [CompiledAlongside]
  package var hasTotals: Bool { plan.rows.totals != nil }

  /// The SQL that reads every row of the result, in no particular order, in the form that the client may see.
  let askedSQL: String
  /// The unit that is looked up after a change; nil if the whole query must run again.
  package let unit: ResultPlan.Unit?
  /// The reason why there is no unit, or a description of the unit, as a sentence.
  let reason: String
  /// Every table that the query reads, without those of `alongside`.
  package let tables: [QueryTable]
  /// How to find which of many queries of this shape a row concerns.
  package let routing: QueryRouting?

  /// For each table, the result columns that depend on it, each with the table's columns that it depends on.
  private let dependents: [[(column: Int, mask: ColumnMask)]]
  /// The columns that conditions of joins read, by index into `tables`.
  let joinColumns: [Int: ColumnMask]
  /// The columns that decide which rows are joined to a row of the result, by index into `tables`.
  let choosingColumns: [Int: ColumnMask]
  /// Whether the query is always run again; see `ResultPlan`.
  package let isRefetched: Bool
  /// Why the query is run again although its rows could be looked up: looking up takes too long. Nil if it is not run
  /// again for that reason.
  package let slowness: String?
  /// Whether the query belongs to a role that may not read everything.
  var isOfRole: Bool { query.access.role != nil }
  let following: Following
  private let query: Query
  /// How changes of tables in subqueries lead to units.
  package let nestedMappings: [NestedMapping]
  /// How the units are encoded that changes lead to: units of the result, or of the rows under its groups.
  let mappedOrders: [FieldOrder]
  /// The same query, followed in another way. It is used if this way fails, because the rows under the groups take too
  /// much memory, or because rows of a subquery beyond its LIMIT and OFFSET have the same key. Nil if there is no other
  /// way.
  package let otherwise: CompiledQuery?
  /// Indexes of the tables in `nestedMappings`.
  package let nestedTables: Set<Int>
  /// The tables that each of the plan's aggregates reads.
  package let aggregateTables: [[QueryTable]]

  init(
    _ query: Query, _ rows: ResultPlan.Rows, _ following: Following, askedSQL: String, reason: String,
    parameterNames: [String?], order: RowOrder,
    alongside: [CompiledAlongside], longestValue: Int32, slowness: String? = nil, otherwise: CompiledQuery? = nil
  ) {
    self.query = query
    self.following = following
    self.askedSQL = askedSQL
    self.reason = reason
    self.slowness = slowness
    refreshEvery = query.refreshEvery
    self.parameterNames = parameterNames
    self.alongside = alongside
    columns = rows.columns
    keyColumns = rows.keyColumns
    self.order = order
    unit = rows.unit
    tables = following.tables
    dependents = following.tables.indices.map { index in
      following.dependencies.enumerated().compactMap { column, masks in masks[index].map { (column, $0) } }
    }
    joinColumns = following.joinColumns
    choosingColumns = following.choosingColumns
    routing = following.routing
    isRefetched = unit == nil || slowness != nil || tables.contains { $0.sources == nil }
    plan = ResultPlan(
      rows, alongside: alongside.map { ResultPlan.Alongside(name: $0.name, sql: $0.sql, aggregate: $0.aggregate) },
      longestValue: longestValue, isRefetched: isRefetched)
    mappedOrders = rows.aggregate?.rows?.orders ?? rows.unit?.orders ?? []
    self.otherwise = otherwise
    nestedMappings = following.nestedMappings
    nestedTables = Set(
      following.tables.indices.filter { index in
        following.nestedMappings.contains { $0.tables.contains(following.tables[index].name.lowercased()) }
      })
    aggregateTables =
      (plan.resultAggregate == nil ? [] : [tables]) + plan.totalAggregates.map { _ in following.tables }
      + alongside.filter { $0.aggregate != nil }.map(\.aggregateTables)
  }

  /// This query, described with the client's own SQL and order; nil if it gives another result.
  ///
  /// - Parameter otherwise: how it is followed if this way fails.
  func explained(as asked: CompiledQuery, otherwise: CompiledQuery? = nil) -> CompiledQuery? {
    guard columns == asked.columns, keyColumns == asked.keyColumns, order.isSame(as: asked.order) else { return nil }
    return CompiledQuery(
      query, plan.rows, following, askedSQL: asked.askedSQL, reason: reason, parameterNames: parameterNames,
      order: asked.order, alongside: alongside, longestValue: plan.longestValue, slowness: slowness,
      otherwise: otherwise ?? self.otherwise?.explained(as: asked))
  }

  /// Whether the keys of rows that it follows but does not show must be unique, which the client's own query does not
  /// require.
  package var hasHiddenRows: Bool { otherwise != nil && !plan.keepsRows }
  /// The reason for running the query again if such keys are not unique.
  package static let hiddenDuplicates = "rows that its LIMIT and OFFSET leave out have the same key"

  /// The queries whose lists keep values of the plan's scalars, each with the index of its value.
  package var scalarQueries: [(place: Int, query: Query)] {
    let scalars = alongside.suffix(plan.scalars?.count ?? 0)
    return scalars.enumerated().compactMap { place, value in value.query.map { (place, $0) } }
  }

  /// Whether changes of all tables are followed without running the query again.
  var isFollowedWhole: Bool {
    let added = plan.resultAggregate.map { plan.aggregates[$0].added } ?? []
    return !isRefetched
      && tables.indices.allSatisfy { index in
        !tables[index].mappings.isEmpty || nestedTables.contains(index) || added.contains(index)
      }
  }

  /// The same query, in a form that is run again after every change.
  ///
  /// - Parameter slowness: the reason, as a part of a sentence.
  package func runAgain(because slowness: String) -> CompiledQuery {
    otherwise?.runAgain(because: slowness)
      ?? CompiledQuery(
        query, plan.rows, following, askedSQL: askedSQL, reason: reason, parameterNames: parameterNames,
        order: order, alongside: alongside,
        longestValue: plan.longestValue, slowness: slowness)
  }
}

/// A table that a query reads. It is a class, because it is read for every change, and a structure with so many members
/// would be copied each time.
package final class QueryTable: Sendable {
  package let table: DatabaseSchema.Table
  /// The table's name as the schema spells it.
  package var name: String { table.name }
  /// How the table's rows are stored; nil if it stores no rows itself.
  package var storage: TableStorage? { table.storage }
  /// Whether changed rows of its source are its own rows.
  package let tellsRows: Bool
  /// The names that `from` gives to the table, as written.
  package let aliases: [String]
  /// The tables that store its rows: itself, unless it is virtual. Nil if they are unknown, so that any commit may have
  /// changed it.
  package let sources: [TableStorage]?
  /// Columns that the query reads and the client may read.
  package let columns: [String]
  /// All columns that the query reads, as a mask. Changes of other columns are ignored.
  package let usedColumns: ColumnMask
  /// For each place of the table in `from`, how a changed row leads to units. Empty if any change runs the query again.
  package let mappings: [UnitMapping]
  /// Columns whose values are needed even after a row is deleted.
  package let rememberedColumns: [Int]
  /// If changes run the query again: statements that return a row if a change can concern the query. Empty if any
  /// change can.
  let passing: [String]
  package var tellsWhatPasses: Bool { !passing.isEmpty }
  /// Whether the client may see the table.
  let isVisible: Bool

  init(
    table: DatabaseSchema.Table, aliases: [String], sources: [TableStorage]?, columns: [String],
    usedColumns: ColumnMask,
    mappings: [UnitMapping], rememberedColumns: [Int], passing: [String] = [], isVisible: Bool
  ) {
    self.table = table
    tellsRows = table.storage != nil || table.isSearch
    self.aliases = aliases
    self.sources = sources
    self.columns = columns
    self.usedColumns = usedColumns
    self.mappings = mappings
    self.rememberedColumns = rememberedColumns
    self.passing = passing
    self.isVisible = isVisible
  }

  /// Whether records of the table's rows contain all columns that the query reads.
  var isToldByRecords: Bool { storage.map { !$0.computedColumns.intersects(usedColumns) } ?? false }

  /// The record fields that must be remembered of rows of one of its sources.
  package func rememberedFields(of source: TableStorage) -> [Int] {
    if source != storage { return [] }
    return source.keptFields + rememberedColumns.compactMap { source.fields[$0] }
  }
}

/// An `alongside` value.
package struct CompiledAlongside: Sendable {
  package var name: String
  var sql: String
  /// The columns that it reads, by lower-case name of the table.
  package var tables: [String: ColumnMask]
  /// How it is kept up to date without running it again; `aggregateTables` are the tables that this follows.
  var aggregate: AggregatePlan?
  var aggregateTables: [QueryTable] = []
  /// The query whose list keeps the value.
  var query: Query?
}

extension CompiledQuery {
  /// Whether the result depends only on the changed rows of its one table.
  package var readsNothingElse: Bool {
    if slowness != nil || plan.alongsideAggregates.contains(nil) { return false }
    if hasTotals, plan.totalAggregates.isEmpty { return false }
    // Such an aggregate has one table and one statement, which reads only changed rows.
    let addsRowsAlone = zip(plan.aggregates, aggregateTables).allSatisfy { $0.signed.count == 1 && $1.count == 1 }
    return addsRowsAlone && (plan.resultAggregate != nil || unit?.capturedSQL != nil)
  }

  /// Whether the result's rows are evaluated over only the changed rows of the table.
  package func isEvaluated(overTable index: Int) -> Bool { unit?.capturedSQL != nil && tables.count == 1 }

  /// The result's columns that may change if these columns of a table change.
  package func changedColumns(_ mask: ColumnMask, ofTable index: Int) -> ColumnSet {
    if mask == .all { return .all }
    if choosingColumns[index]?.intersects(mask) == true { return .all }
    var set = ColumnSet()
    for (column, dependency) in dependents[index] where dependency.intersects(mask) { set.insert(column) }
    return set
  }

  /// Whether finding the units of a changed row needs the parameters' values. O(length of the SQL), so it should be
  /// read once.
  package var mapsByParameters: Bool {
    tables.contains { table in
      table.mappings.contains { mapping in
        [mapping.newSQL, mapping.oldSQL].compactMap { $0 }.contains { sql in
          SQLTokenizer(sql).contains { token in
            token.kind == .parameter
              && (Int32(SQLTokenizer(sql).text(of: token).dropFirst()) ?? 0) < mapping.firstParameter
          }
        }
      }
    }
  }

  /// Whether the query reads the same tables in the same way in another schema with the same views, even if they are at
  /// other places in the file.
  package func readsSame(in schema: DatabaseSchema) -> Bool {
    alongside.allSatisfy { $0.tables.isEmpty }
      && tables.allSatisfy { table in
        guard let before = table.sources, let now = schema.sources(of: table.name) else { return false }
        return schema.table(table.name)?.name == table.name
          && before.map(\.table.definition) == now.map(\.table.definition)
          && schema.table(table.name)?.columnNames == table.table.columnNames
      }
  }

  /// Whether the query may refer to one of these names of new tables, which may have meant something else until now,
  /// such as a table-valued function.
  package func mayName(_ names: [String]) -> Bool {
    if names.isEmpty { return false }
    let names = Set(names.map { $0.lowercased() })
    let tokenizer = SQLTokenizer(askedSQL)
    return tokenizer.contains { names.contains(tokenizer.unquotedText(of: $0).lowercased()) }
  }

  /// Whether a table is the first of `from`, and its key is the unit.
  package func isFirstTable(_ index: Int) -> Bool { tables[index].mappings.contains(where: \.isUnit) }

  /// The values of the parameters `?1`, `?2`, … in a query of this shape.
  package func values(of query: Query) -> [SQLValue] { CompiledQuery.values(parameterNames, of: query) }

  /// - Parameter names: the names of the parameters `?1`, `?2`, …; nil for parameters given by position.
  static func values(_ names: [String?], of query: Query) -> [SQLValue] {
    var positional: [SQLValue] = []
    var named = query.access.claims
    switch query.parameters {
    case .positional(let values): positional = values
    case .named(let values): named.merge(values) { claim, _ in claim }
    }
    return names.enumerated().map { index, name in name.map { named[$0] ?? .null } ?? positional[index] }
  }
}

extension RowOrder {
  /// Whether both orders sort rows in the same way. Source columns of expressions are not compared, because an
  /// expression over a subquery or view has no source column in the table.
  fileprivate func isSame(as other: RowOrder) -> Bool {
    let unnamed = { (order: RowOrder) in
      var order = order
      for index in order.terms.indices { order.terms[index].forgetSource() }
      order.section?.forgetSource()
      return order
    }
    return unnamed(self) == unnamed(other)
  }
}

extension RowOrder.Term {
  fileprivate mutating func forgetSource() { if column == nil { (source, calls) = (nil, []) } }
}
