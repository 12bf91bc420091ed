import LiveQuery
import Store

/// The changes of a commit, or of several commits that can only be seen together, in the tables that the feed follows.
struct LoggedCommit {
  /// Counts the log's entries: the position of a reader that has read it.
  let number: UInt64
  /// The number of the state that it leads to: the protocol's `commit`.
  let commit: Int64
  /// How many commits it is of.
  let commits: Int64
  let changes: [LoggedChange]
  let byteCount: Int

  init(number: UInt64, commit: Int64, commits: Int64, changes: [LoggedChange]) {
    self.number = number
    self.commit = commit
    self.commits = commits
    self.changes = changes
    byteCount = changes.reduce(128) { $0 + $1.byteCount }
  }
}

extension LoggedCommit {
  /// As above, with the changed tables alone.
  var withoutRows: LoggedCommit {
    var tables: [Int: LoggedChange] = [:]
    for change in changes where change.operation != .schema {
      tables[change.table.number] = LoggedChange(table: change.table, operation: .unknown)
    }
    let altered = changes.filter { $0.operation == .schema }
    return LoggedCommit(number: number, commit: commit, commits: commits, changes: altered + tables.values)
  }
}

/// A change of one row, or of a table.
struct LoggedChange {
  enum Operation: UInt64 {
    case insert, update, delete
    /// The table was altered, dropped or made.
    case schema
    /// The table changed, and which of its rows did is not known.
    case unknown
  }

  let table: FeedTable
  var operation: Operation
  var rowid: Int64 = 0
  /// The values of the table's key.
  var key: [SQLValue] = []
  /// The row as it was; nil where that is not known, and for an insertion.
  var former: PackedValues?
  /// The row as it is; nil for a deletion.
  var present: PackedValues?

  /// Memory of the change itself, its key, and two arrays with the allocator's overhead.
  fileprivate var byteCount: Int { 208 + (former?.bytes.capacity ?? 0) + (present?.bytes.capacity ?? 0) }
}
