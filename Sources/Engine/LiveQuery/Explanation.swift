/// How a query is kept up to date, and why in this way: protocol 4, `/v1/explain`.
package struct Explanation: Hashable, Sendable {
  package enum Maintenance: String, Sendable {
    /// The cost of a change depends on the number of rows that it concerns.
    case incremental
    /// The query is run again after a change, and the results are compared.
    case refetch
  }

  /// One table that the query reads.
  package struct Table: Hashable, Sendable {
    package enum Following: String, Sendable {
      /// A changed row is evaluated separately: as its commit wrote it, or looked up by its key.
      case key
      /// A changed row of a joined table is mapped to the rows that it can concern.
      case join
      /// A changed row's present values are added to its group, and its former values are taken out.
      case group
      /// Any change runs the query again.
      case refetch
    }

    /// How changes of the table are found.
    package enum Capture: String, Sendable {
      /// A hash of each row is remembered.
      case rows
      /// A hash of each page is remembered, because the table is large.
      case pages
      /// The table is being read. Until this ends, any commit may have changed it.
      case reading
      /// The whole table is compared after each commit, because the database has no WAL.
      case comparison
      /// Changes are not found, so any commit may have changed the table.
      case everyCommit
    }

    package var name: String
    /// The table's names in `from`; empty for a table that only a subquery reads.
    package var aliases: [String]
    /// The columns whose changes count.
    package var columns: [String]
    package var following: Following
    package var capture: Capture

    package init(name: String, aliases: [String], columns: [String], following: Following, capture: Capture) {
      self.name = name
      self.aliases = aliases
      self.columns = columns
      self.following = following
      self.capture = capture
    }
  }

  /// The query's own SELECT, or a SELECT inside it.
  package struct Relation: Hashable, Sendable {
    package enum Kind: String, Sendable {
      /// Rows of a table, with the rows that they join.
      case rows
      case groups
      /// Rows with window functions, whose values depend on the rows with the same key.
      case partitions
      /// Several SELECTs that are combined by set operators.
      case compound
      /// A subquery in an expression, evaluated for each row.
      case subquery
      /// A subquery in a condition that depends on no row.
      case value
      /// A SELECT that is evaluated only as a whole, so that a change runs the query again.
      case whole
    }

    package var kind: Kind
    /// The name of the SELECT; nil for the query itself, or if it has no name.
    package var name: String?
    /// The columns and expressions that rows are looked up by.
    package var key: [String]
    /// The tables that this SELECT reads, without those of SELECTs inside it.
    package var tables: [String]
    /// Whether the contribution of each row is kept.
    package var isKept: Bool
    package var parts: [Relation]

    package init(
      _ kind: Kind, name: String? = nil, key: [String] = [], tables: [String] = [], isKept: Bool = false,
      parts: [Relation] = []
    ) {
      self.kind = kind
      self.name = name
      self.key = key
      self.tables = tables
      self.isKept = isKept
      self.parts = parts
    }
  }

  /// The list of the query, if it has one at the moment.
  package struct List: Hashable, Sendable {
    package var rows: Int
    /// The number of groups that are kept, and the bytes of the rows under them.
    package var groups: Int
    package var keptBytes: Int
    package var cost: Cost

    package init(rows: Int, groups: Int, keptBytes: Int, cost: Cost) {
      self.rows = rows
      self.groups = groups
      self.keptBytes = keptBytes
      self.cost = cost
    }
  }

  /// The cost of changes since the list was opened.
  package struct Cost: Hashable, Sendable {
    /// Look-ups and additions: their number, their units, their time altogether, and the longest time.
    package var changes = 0
    package var units = 0
    package var milliseconds = 0.0
    package var longest = 0.0
    /// The number of times that the query was run.
    package var runs = 0

    package init() {}
  }

  package var maintenance: Maintenance
  /// One sentence.
  package var reason: String
  package var tables: [Table]
  /// The statement that reads the whole result.
  package var sql: String
  /// Advice on how to make the query cheaper, as sentences to act on: an index to create, another journal mode.
  package var advice: [String]
  /// SQLite's EXPLAIN QUERY PLAN of `sql`, one line for each step.
  package var plan: [String]
  /// The parts of the query; nil if they are not shown to this client.
  package var relation: Relation?
  /// The query's list; nil if it has none at the moment.
  package var list: List?

  package init(
    maintenance: Maintenance, reason: String, tables: [Table], sql: String, advice: [String], plan: [String]
  ) {
    self.maintenance = maintenance
    self.reason = reason
    self.tables = tables
    self.sql = sql
    self.advice = advice
    self.plan = plan
  }
}
