/// How the result of a query is read: the SQL of its statements, and the meaning of their columns. It does not contain
/// the parameters' values, so all queries of one shape share it. All statements that give rows have the same columns:
/// section value, name and index title (if there are sections, and expressions for names and titles), the sort values
/// that are not columns of the result, the unit (if the query's key differs from it), then the result's columns, key
/// first. It is a class, because it is read for every row, and a structure with so many members would be copied each
/// time.
package final class ResultPlan: Sendable {
  /// The rows of the result: the columns of their statements, and their order.
  package struct Rows: Sendable {
    /// The result's columns as clients see them, key columns first.
    package var columns: [String]
    package var keyColumns: [String]
    /// The order of sections by their values; nil if there are no sections.
    package var section: FieldOrder?
    /// Whether sections have names other than the section value.
    package var hasSectionName: Bool
    package var hasIndexTitle: Bool
    package var sorts: [Sort]
    /// The key columns that are not BINARY, by index into `columns`, with the order by which they break ties.
    package var keyTies: [(column: Int, order: FieldOrder)]
    /// The SQL that reads every row of the result, in no particular order.
    package var scanSQL: String
    /// The unit that is looked up after a change; nil if the whole query must run again.
    package var unit: Unit?
    /// How the result's groups are kept up to date by arithmetic, without look-ups.
    package var aggregate: AggregatePlan?
    package let totals: Totals?
    /// The rowid's name, if the key is a primary key that may contain NULL, so that several rows may have the same key.
    package var rowidName: String?
    /// How totals are kept up to date by arithmetic: first those of all rows, then those of sections.
    package var totalAggregates: [AggregatePlan] = []
    package var scalars: Scalars?
    /// The offsets of the kept rows that LIMIT and OFFSET show.
    package var shown = 0..<Int.max

    package init(
      columns: [String], keyColumns: [String], section: FieldOrder?, hasSectionName: Bool, hasIndexTitle: Bool,
      sorts: [Sort],
      keyTies: [(column: Int, order: FieldOrder)], scanSQL: String, totals: Totals? = nil
    ) {
      self.totals = totals
      self.columns = columns
      self.keyColumns = keyColumns
      self.section = section
      self.hasSectionName = hasSectionName
      self.hasIndexTitle = hasIndexTitle
      self.sorts = sorts
      self.keyTies = keyTies
      self.scanSQL = scanSQL
    }
  }

  package struct Sort: Sendable {
    package var order: FieldOrder
    /// The result's column that has the sort value, by index into `columns`; nil if the statements have a separate
    /// column for it.
    package var column: Int?

    package init(order: FieldOrder, column: Int?) {
      self.order = order
      self.column = column
    }
  }

  /// A part of the result that is evaluated by itself: the rows that come from one row of the first table, or from one
  /// group.
  ///
  /// It is a class, because it is read at every change, and a structure with so many members would be copied.
  package final class Unit: Sendable {
    /// Reads the rows of one unit, whose values are the parameters from `firstParameter` on.
    package let rowSQL: String
    package let firstParameter: Int32
    /// Reads the rows of `batchSize` units, with the unit's place as the last column; nil if units are looked up one by
    /// one.
    package let batchSQL: String?
    /// Reads the row of a unit that is known to be in the result, without checking the query's conditions again; nil if
    /// these conditions cost nothing.
    package let knownRowSQL: String?
    /// For queries that read only one table, reads the result's rows among the changed ones, from `CapturedRows`. If
    /// nil, changed rows are looked up.
    package let capturedSQL: String?
    /// The orders with which the unit's values are encoded. The values of groups are equal under their collations.
    package let orders: [FieldOrder]
    /// Whether the query's key is the unit.
    package let isKey: Bool

    package init(
      rowSQL: String, firstParameter: Int32, batchSQL: String?, knownRowSQL: String? = nil, capturedSQL: String? = nil,
      orders: [FieldOrder], isKey: Bool
    ) {
      self.capturedSQL = capturedSQL
      self.knownRowSQL = knownRowSQL
      self.rowSQL = rowSQL
      self.firstParameter = firstParameter
      self.batchSQL = batchSQL
      self.orders = orders
      self.isKey = isKey
    }

    #if DEBUG
      /// The number of units in a batch. Small in debug builds, so that every test has batches.
      package static let batchSize = 3
    #else
      /// The number of units in a batch. A look-up costs half of a single one, and larger batches hardly reduce that.
      package static let batchSize = 32
    #endif
  }

  /// Aggregates over the rows of the result, in the order of their names.
  package struct Totals: Sendable {
    package let names: [String]
    /// Reads one row with the totals of all rows.
    package let wholeSQL: String
    /// Reads a row for each section: the section value, then its totals. Nil if there are no sections.
    package let sectionsSQL: String?
    /// As above, for each total separately. Used if one of them cannot be computed.
    package let alone: [(wholeSQL: String, sectionsSQL: String?)]

    package init(
      names: [String], wholeSQL: String, sectionsSQL: String?, alone: [(wholeSQL: String, sectionsSQL: String?)]
    ) {
      self.names = names
      self.wholeSQL = wholeSQL
      self.sectionsSQL = sectionsSQL
      self.alone = alone
    }
  }

  /// An `alongside` value.
  package struct Alongside: Sendable {
    package var name: String
    package var sql: String
    /// How the value is kept up to date without running its SQL again.
    package var aggregate: AggregatePlan?

    package init(name: String, sql: String, aggregate: AggregatePlan?) {
      self.name = name
      self.sql = sql
      self.aggregate = aggregate
    }
  }

  /// Subqueries in conditions. Their values are kept after the values of `alongside`, in the same way, and are
  /// parameters of the statements.
  package struct Scalars: Sendable {
    package var count: Int
    /// The number of the first value's parameter.
    package var firstParameter: Int32
    /// The number of the first new value's parameter, in `changedSQL`.
    package var newParameter: Int32
    /// Selects the units for which `where` differs between old and new values; nil if `where` has no such subquery.
    package var changedSQL: String?
    package var orders: [FieldOrder]
    package var areInHaving: Bool

    package init(
      count: Int, firstParameter: Int32, newParameter: Int32, changedSQL: String?, orders: [FieldOrder],
      areInHaving: Bool
    ) {
      self.count = count
      self.firstParameter = firstParameter
      self.newParameter = newParameter
      self.changedSQL = changedSQL
      self.orders = orders
      self.areInHaving = areInHaving
    }
  }

  package let rows: Rows
  package let alongside: [Alongside]
  /// The longest value while the query's statements run, in bytes.
  package let longestValue: Int32
  /// Whether the query is always run again, and the contents of its rows are kept: its rows cannot be looked up one by
  /// one, or changes do not show which of them changed.
  package let isRefetched: Bool

  package var scalars: Scalars? { rows.scalars }

  // Members of `rows`, copied here for loops over rows.
  let columns: [String]
  let keyColumns: [String]
  let section: FieldOrder?
  /// Index of the section's name in a row of any statement.
  let sectionName: Int
  let indexTitle: Int?
  /// Index of the first sort value that is not a column of the result.
  let firstSort: Int
  let sorts: [Sort]
  let keyTies: [(column: Int, order: FieldOrder)]
  let unit: Unit?
  /// The aggregates that arithmetic keeps up to date: the result itself if it is an aggregate, values alongside it, and
  /// totals.
  package let aggregates: [AggregatePlan]
  /// The index of the aggregate that is the result.
  package let resultAggregate: Int?
  /// Whether the rows under the result's groups are kept, by units.
  package let keepsRows: Bool
  /// Whether changed rows are added to the result's groups.
  package var addsToResult: Bool { resultAggregate != nil && !keepsRows }
  /// The indexes of the aggregates of totals: first that of all rows, then that of sections, if there are sections.
  package let totalAggregates: Range<Int>
  /// For each value of `alongside`, the index of its aggregate.
  package let alongsideAggregates: [Int?]
  /// Index of the first of the result's columns in a row of any statement.
  let firstColumn: Int

  package init(_ rows: Rows, alongside: [Alongside], longestValue: Int32, isRefetched: Bool) {
    self.rows = rows
    self.alongside = alongside
    self.longestValue = longestValue
    self.isRefetched = isRefetched
    columns = rows.columns
    keyColumns = rows.keyColumns
    section = rows.section
    sectionName = rows.hasSectionName ? 1 : 0
    indexTitle = rows.hasIndexTitle ? sectionName + 1 : nil
    firstSort = (rows.section == nil ? 0 : 1) + (rows.hasSectionName ? 1 : 0) + (rows.hasIndexTitle ? 1 : 0)
    sorts = rows.sorts
    keyTies = rows.keyTies
    unit = rows.unit
    var aggregates = isRefetched ? [] : [rows.aggregate].compactMap(\.self)
    resultAggregate = aggregates.isEmpty ? nil : 0
    keepsRows = aggregates.first?.rows != nil
    if !isRefetched { aggregates += rows.totalAggregates }
    totalAggregates = (resultAggregate == nil ? 0 : 1)..<aggregates.count
    var places: [Int?] = []
    for value in alongside {
      guard let aggregate = value.aggregate, !isRefetched else {
        places.append(nil)
        continue
      }
      places.append(aggregates.count)
      aggregates.append(aggregate)
    }
    alongsideAggregates = places
    self.aggregates = aggregates
    firstColumn =
      firstSort + sorts.count { $0.column == nil }
      + (unit.map { $0.isKey ? 0 : $0.orders.count } ?? 0)
  }
}
