/// How a query is kept up to date, and why so: protocol 4, `/v1/explain`.
package struct Explanation: Hashable, Sendable {
  package enum Maintenance: String, Sendable {
    /// A change costs as much as the rows that it concerns.
    case incremental
    /// The query is run again after a change, and differed.
    case refetch
  }

  /// One table that the query reads.
  package struct Table: Hashable, Sendable {
    package enum Following: String, Sendable {
      /// A changed row is evaluated by itself: as its commit wrote it, or looked up by its key.
      case key
      /// A changed row of a joined table is mapped to the rows that it can concern.
      case join
      /// A changed row is added to its group, and what it was is taken out.
      case group
      /// Any change runs the query again.
      case refetch
    }

    /// How it is found out what changed in the table.
    package enum Capture: String, Sendable {
      /// By a hash of each row.
      case rows
      /// By what is remembered of each page: the table is large.
      case pages
      /// The table is being read; until that is done, any commit may have changed it.
      case reading
      /// The whole table is compared after a commit: the database has no WAL.
      case comparison
      /// It is not known: any commit may have changed it.
      case everyCommit
    }

    package var name: String
    /// The names that `from` gives it; empty for a table that only a subquery reads.
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

  /// The query's own SELECT, or one inside of it.
  package struct Relation: Hashable, Sendable {
    package enum Kind: String, Sendable {
      /// Rows of a table, with the rows that they join.
      case rows
      case groups
      /// Rows whose window functions see the rows with the same values of the key.
      case partitions
      /// Several SELECTs that set operators put together.
      case compound
      /// A subquery in an expression, evaluated for each row.
      case subquery
      /// A subquery in a condition that depends on no row.
      case value
      /// It is not taken apart: a change means running the query again.
      case whole
    }

    package var kind: Kind
    /// Its name; nil: the query itself, or unnamed.
    package var name: String?
    /// Columns and expressions by which it is looked up.
    package var key: [String]
    /// The tables that it reads itself.
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

  /// The list, where the query has one at the moment.
  package struct List: Hashable, Sendable {
    package var rows: Int
    /// Groups that are kept, and bytes of the rows under them.
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
    /// Look-ups and additions: how often, how many units, how much time in all, and the longest.
    package var changes = 0
    package var units = 0
    package var milliseconds = 0.0
    package var longest = 0.0
    /// How often the query was run.
    package var runs = 0

    package init() {}
  }

  package var maintenance: Maintenance
  /// One sentence.
  package var reason: String
  package var tables: [Table]
  /// The statement that reads the whole result.
  package var sql: String
  /// Advice to make it cheaper, as sentences to act on: an index to create, another journal mode.
  package var advice: [String]
  /// SQLite's own EXPLAIN QUERY PLAN of `sql`, a line each.
  package var plan: [String]
  /// The parts of the query; nil: not shown to this client.
  package var relation: Relation?
  /// Nil: it has no list at the moment.
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
