import LiveQuery
import Store

/// The changes of a commit in the tables that the feed follows. It may be of several commits, if these can only be seen
/// together.
struct LoggedCommit {
  /// The number of the entry in the log, which readers get as a position.
  let number: UInt64
  /// The number of the state after the commit: the protocol's `commit`.
  let commit: Int64
  /// The number of commits that it combines.
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
  /// As above, but says only which tables changed, without rows.
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
    /// The table was altered, dropped or created.
    case schema
    /// The table changed, but the changed rows are unknown.
    case unknown
  }

  let table: FeedTable
  var operation: Operation
  var rowid: Int64 = 0
  /// The values of the table's key.
  var key: [SQLValue] = []
  /// The row's former values; nil if they are unknown, and for an insertion.
  var former: PackedValues?
  /// The row's present values; nil for a deletion.
  var present: PackedValues?

  /// The approximate memory, in bytes: the change itself, its key, and two arrays with the allocator's overhead.
  fileprivate var byteCount: Int { 208 + (former?.bytes.capacity ?? 0) + (present?.bytes.capacity ?? 0) }
}
