/// How the result of a query is read: its statements as SQL, and what the columns of their rows are. It says nothing of
/// the parameters' values: all queries of one shape share it.
/// Every statement that gives rows gives the same columns: section value, name and index title (when there are
/// sections, and expressions for names and titles), the sort values that are not columns of the result, the unit (if
/// the query's key differs from it), then the result's columns, key first.
/// A class, because it is read for every row: a structure of so many parts would be copied each time.
package final class ResultPlan: Sendable {
  /// The rows of the result: what their statements give, and how they sort.
  package struct Rows: Sendable {
    /// The result's columns as clients see them, key columns first.
    package var columns: [String]
    package var keyColumns: [String]
    /// How the section value sorts; nil without sections.
    package var section: FieldOrder?
    /// Whether sections are called otherwise than by the section value.
    package var hasSectionName: Bool
    package var hasIndexTitle: Bool
    package var sorts: [Sort]
    /// How the key columns break ties: the columns that are not BINARY, by index into `columns`.
    package var keyTies: [(column: Int, order: FieldOrder)]
    /// Every row of the result, in no particular order.
    package var scanSQL: String
    /// The unit that is looked up after a change; nil when the whole query has to run again.
    package var unit: Unit?
    /// How its groups are kept up to date without looking them up.
    package var aggregate: AggregatePlan?
    package let totals: Totals?
    /// The rowid's name, where the key is a primary key that may hold NULL, so that several rows may have it.
    package var rowidName: String?
    /// How totals are kept up to date by arithmetic: those of all rows, and those of sections.
    package var totalAggregates: [AggregatePlan] = []
    package var scalars: Scalars?
    /// The rows, by offset, that LIMIT and OFFSET leave of all that are kept.
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
    /// The result's column that has the value, by index into `columns`; nil: it is a column of the statements for
    /// itself.
    package var column: Int?

    package init(order: FieldOrder, column: Int?) {
      self.order = order
      self.column = column
    }
  }

  /// A part of the result that is evaluated by itself: the rows that one row of the first table, or one group, gives.
  ///
  /// A class, because it is asked at every change, and a structure of so many parts would be copied.
  package final class Unit: Sendable {
    /// The rows of one unit, whose values are the parameters from `firstParameter` on.
    package let rowSQL: String
    package let firstParameter: Int32
    /// The rows of `batchSize` units, each with its unit's place as the last column; nil where units are looked up one
    /// by one.
    package let batchSQL: String?
    /// The row of one unit that is known to be in the result, without the conditions that made it so; nil where these
    /// cost nothing.
    package let knownRowSQL: String?
    /// The rows of the result among those that changed, where the query reads nothing but its one table: over
    /// `CapturedRows`. Nil: they are looked up.
    package let capturedSQL: String?
    /// How the unit's values are encoded; groups are equal under their collations.
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
      /// Few in debug builds, so that every test has some.
      package static let batchSize = 3
    #else
      /// With more a look-up costs hardly less: a half of what it costs by itself.
      package static let batchSize = 32
    #endif
  }

  /// Aggregates over the rows of the result, in the order of their names.
  package struct Totals: Sendable {
    package let names: [String]
    /// One row: the totals of all rows.
    package let wholeSQL: String
    /// A row for each section: the section value, then its totals; nil without sections.
    package let sectionsSQL: String?
    /// Each total by itself, for when one of them cannot be computed.
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
    /// How it is kept up to date without running it again.
    package var aggregate: AggregatePlan?

    package init(name: String, sql: String, aggregate: AggregatePlan?) {
      self.name = name
      self.sql = sql
      self.aggregate = aggregate
    }
  }

  /// Subqueries in conditions whose values are kept like those alongside the result, as the last of these, and are
  /// parameters of the statements.
  package struct Scalars: Sendable {
    package var count: Int
    /// The parameter of the first.
    package var firstParameter: Int32
    /// In `changedSQL`, the same of their new values.
    package var newParameter: Int32
    /// Selects the units for which `where` differs between old and new values; nil: `where` has no such subquery.
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
  /// In bytes, while its statements run.
  package let longestValue: Int32
  /// Whether the query is always run again, and the contents of its rows kept: because they cannot be looked up one by
  /// one, or because it is not known which of them changed.
  package let isRefetched: Bool

  package var scalars: Scalars? { rows.scalars }

  // The parts of `rows`, each at hand for loops over rows.
  let columns: [String]
  let keyColumns: [String]
  let section: FieldOrder?
  /// Index of the section's name in a row of any statement.
  let sectionName: Int
  let indexTitle: Int?
  /// Index of the first sort value that is no column of the result.
  let firstSort: Int
  let sorts: [Sort]
  let keyTies: [(column: Int, order: FieldOrder)]
  let unit: Unit?
  /// Aggregates that arithmetic keeps up to date: the result, if it is one, and values alongside it.
  package let aggregates: [AggregatePlan]
  /// Which of these is the result.
  package let resultAggregate: Int?
  /// Whether the rows under its groups are kept, by the units that changes lead to.
  package let keepsRows: Bool
  /// Whether changed rows are added to its groups.
  package var addsToResult: Bool { resultAggregate != nil && !keepsRows }
  /// The range of totals: those of all rows, and those of sections, if any.
  package let totalAggregates: Range<Int>
  /// By index into `alongside`, which of these it is.
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
