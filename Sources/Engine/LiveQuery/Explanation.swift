/// How a query is kept up to date, and why so: protocol 4, `/v1/explain`.
package struct Explanation: Hashable, Sendable {
  package enum Maintenance: String, Sendable {
    /// A change costs what the rows that it concerns cost.
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
      /// By what is remembered of each row.
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
    /// What the query calls it in `from`; empty for one that only a subquery reads.
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

  package var maintenance: Maintenance
  /// One sentence.
  package var reason: String
  package var tables: [Table]
  /// The statement that reads the whole result.
  package var sql: String
  /// What would make it cheaper, as sentences to act on: an index to create, another journal mode.
  package var advice: [String]
  /// SQLite's own EXPLAIN QUERY PLAN of `sql`, a line each.
  package var plan: [String]

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
