package import ChangeCapture
import LiveQuery

/// The commit since which each followed table has not changed. If a list's tables have not changed since commit 17, the
/// list still shows what it showed at every later commit that a tick has seen. So after a restart a client that names
/// such a version gets a patch, although the server does not hold the version any more.
///
/// Owner: the follower's thread.
package struct TableAges {
  /// The first commit since which a table certainly has not changed, by capture's number of the table.
  private var since: [Int: Int64] = [:]

  package init() {}

  /// - Parameter kept: the first commits of tables that capture has restored, by table name.
  package init(_ kept: [String: Int64], _ capture: ChangeCapture) {
    for number in capture.numbers { since[number] = capture.name(of: number).flatMap { kept[$0] } }
  }

  /// Notes which tables a tick has seen changed.
  package mutating func note(_ tick: CapturedTick, at number: CommitNumber) {
    if tick.deltas.isEmpty, !tick.hasSchemaChanged { return }
    let first = number.first
    if tick.hasSchemaChanged { for table in since.keys { since[table] = first } }
    for (table, _) in tick.deltas { since[table] = first }
  }

  /// Adds followed tables, which may be followed only from this state on.
  package mutating func add(_ tables: some Sequence<Int>, at number: CommitNumber) {
    for table in tables where since[table] == nil { since[table] = number.first }
  }

  /// Forgets all tables, because their changes are unknown.
  package mutating func removeAll() { since = [:] }

  /// The first commit since which none of the tables has changed; nil if that is unknown.
  package func first(of tables: some Sequence<Int>) -> Int64? {
    var first: Int64?
    for table in tables {
      guard let since = since[table] else { return nil }
      first = max(first ?? since, since)
    }
    return first
  }

  /// The first commits of the tables that capture follows, by table name.
  package func kept(_ capture: ChangeCapture) -> [String: Int64] {
    var kept: [String: Int64] = [:]
    for number in capture.numbers {
      if let name = capture.name(of: number), let since = since[number] { kept[name] = since }
    }
    return kept
  }
}

extension CommitNumber {
  /// The first commit that certainly belongs to no earlier state.
  fileprivate var first: Int64 { isExact ? commit : commit + 1 }
}
