package import Following
import Ground
package import LiveQuery
import QueryCompiler
package import RankedCollections
import Store

/// The versions of one list: their names, the commits at which each was the result, and the columns that each changed.
///
/// A version is known at an interval of commits. To find the version of a client that names commit 17 is one look-up in
/// these intervals, with the same answer if another server of the epoch gave the name. See `VersionNames`,
/// `VersionHistory`.
package struct ListVersions {
  /// The states that the follower has seen.
  package let commits: FollowedCommits
  private var names: VersionNames
  private let clock: MonotonicClock
  /// Part of the names of versions that belong to no commit for certain, so that the names of two lists never agree.
  private var nonce = ListVersions.newNonce
  /// How many versions were made apart from the newest ones.
  private var sideVersions = 0
  /// The tick that brought the list to its newest version.
  private var newestTick: UInt64 = 0
  private var history: VersionHistory
  /// Estimated bytes that the newest version adds to the one before.
  private var newestBytes: Int
  /// For the newest versions, the columns that each changed, by unit; nil: any. A slice, whose first element goes
  /// without moving the others.
  private var changes: ArraySlice<(version: Int, units: ConcernedUnits?)> = []
  /// Units in `changes`, a bounded number: a client further behind gets all columns of a changed row.
  private var notedUnits = 0
  private static let notedUnitsLimit = 20_000

  /// Counts the memory that a version adds.
  enum Bytes {
    /// The number of changed units.
    case changes(Int)
    /// The rows of a run, and how many units changed; nil: they were not compared.
    case rows(Int, changed: Int?)

    /// A change of one row copies about this much of a tree.
    private static let bytesPerChange = 4 << 10
    private static let bytesPerRow = 64

    fileprivate var count: Int {
      switch self {
      case .changes(let units): units * Self.bytesPerChange
      case .rows(let rows, let changed):
        changed.map { min(rows * Self.bytesPerRow, ($0 + 1) * Self.bytesPerChange) } ?? rows * Self.bytesPerRow
      }
    }
  }

  init(
    _ commits: FollowedCommits, _ names: VersionNames, rows: Int, clock: MonotonicClock
  ) {
    self.commits = commits
    self.names = names
    self.clock = clock
    history = VersionHistory(commits.historyBudget)
    newestBytes = Bytes.rows(rows, changed: nil).count
  }

  package var count: Int { history.count }

  mutating func removeAll() { history.removeAll() }

  /// The newest version is sent to a client, which may resume with its name.
  mutating func newestWasSent(_ newest: ResultVersion) {
    history.add(newest, bytes: newestBytes, now: clock.now)
  }

  // MARK: - Names

  private static var newNonce: String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

  /// The newest version's name at the state that is shown.
  mutating func name(_ newest: ResultVersion, shown: CommitNumber) -> String {
    guard names.isByCommit, shown.isExact else { return "\(nonce)-\(newest.number)" }
    history.note(shown.commit)
    return names.name(at: shown.commit)
  }

  /// The name of a version that was made apart from the newest ones.
  mutating func newSideName(of version: ResultVersion, at number: CommitNumber) -> String {
    if names.isByCommit, number.isExact { return names.name(at: number.commit) }
    sideVersions += 1
    return "\(nonce)-\(version.number)-\(sideVersions)"
  }

  /// The version with this name, if it is held and certainly the right state.
  func version(named name: String, newest: ResultVersion) -> ResultVersion? {
    if let commit = names.commit(of: name) {
      if history.newest.contains(commit, commits.seen) { return newest }
      return history.version(at: commit, commits.seen)
    }
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == nonce, let number = Int(parts[1]) else { return nil }
    return number == newest.number ? newest : history.version(number)
  }

  /// Makes earlier versions invalid, because the epoch or the columns changed.
  ///
  /// - Parameter names: names in the new epoch; nil: the epoch goes on.
  mutating func forget(_ names: VersionNames?) {
    nonce = Self.newNonce
    history.removeAll()
    if let names { self.names = names }
  }

  // MARK: - Intervals of commits

  /// The shown rows were read in the state with this number.
  mutating func wasShown(at number: CommitNumber) {
    if number.isExact, mayBe(at: number.commit) { history.note(number.commit) }
  }

  /// From now on, the newest version is known at every commit that a tick sees.
  mutating func beginSpan() {
    let number = commits.number
    let first = number.isExact ? number.commit : number.commit + 1
    if mayBe(at: first) { history.begin(at: first) }
  }

  /// The query's name in those of versions; nil: commits do not name them.
  var queryName: String? { names.queryName }

  /// The first of the commits from which on the newest version is known at every commit that a tick sees; nil: it is
  /// not.
  var spanStart: Int64? { history.newest.openFrom }

  /// The newest version is known at every commit that a tick has seen from this one on.
  mutating func extendSpan(to first: Int64) { history.extend(to: first) }

  /// The newest version is not known to be the result after this state.
  mutating func endSpan(at number: CommitNumber) { history.end(at: number.certain) }

  /// The state that a following list shows if the present tick does not advance it.
  ///
  /// - Parameter before: the number of the last tick's state.
  func shown(unlessFollowedFrom before: CommitNumber) -> CommitNumber {
    newestTick == commits.ticks ? commits.number : before
  }

  /// The result has just become another version.
  ///
  /// - Parameter units: the changed ones; nil: unknown.
  mutating func note(_ newest: ResultVersion, _ units: ConcernedUnits?, bytes: Bytes, isFollowing: Bool) {
    if isFollowing {
      history.end(at: commits.before.certain)
      newestTick = commits.ticks
    }
    history.supersede(newest.number - 1)
    if isFollowing { beginSpan() }
    newestBytes = bytes.count
    if commits.holdsEveryVersion { newestWasSent(newest) }
    changes.append((newest.number, units))
    // A version counts as a unit, so that empty versions do not accumulate.
    notedUnits += 1 + (units?.count ?? 0)
    while notedUnits > Self.notedUnitsLimit, let oldest = changes.first {
      notedUnits -= 1 + (oldest.units?.count ?? 0)
      changes.removeFirst()
    }
  }

  /// Whether the newest version can be the result at a commit. It cannot if another version was: something other than
  /// the replication wrote to a replica's file, and commits name no versions of this query from now on.
  private mutating func mayBe(at commit: Int64) -> Bool {
    if commit > history.superseded { return true }
    names.isByCommit = false
    history.removeAll()
    return false
  }

  // MARK: - Changed columns

  /// For each row of the newest version, the columns in which it may differ from `held`, a version of this query.
  mutating func changedColumns(
    of rows: [SectionedTree.Row], since held: ResultVersion, _ reader: ResultReader, _ compiled: CompiledQuery
  ) -> [ColumnSet] {
    guard let oldest = changes.first?.version, oldest <= held.number + 1 else {
      return Array(repeating: .all, count: rows.count)
    }
    let first = changes.lastIndex { $0.version <= held.number }.map { $0 + 1 } ?? changes.startIndex
    let since = changes[first...]
    let identityIsUnit = reader.identityIsUnit
    return rows.map { row in
      var columns = ColumnSet()
      for change in since {
        guard let units = change.units else { return .all }
        let known =
          identityIsUnit
          ? units.columns(of: row)
          : reader.unit(of: row.withIdentity { Array($0) })?.withUnsafeBytes { units.columns(of: $0) }
        if let known { columns.formUnion(known) }
      }
      // Another unit may have the row with this key now.
      let mayBeAnother =
        !identityIsUnit && compiled.keyColumns.indices.contains { columns.contains($0) }
      return columns.isEmpty || mayBeAnother ? .all : columns
    }
  }
}

extension LiveList {
  /// Names the newest version at the state that is shown. A client may resume with the name.
  package func nameNewest() -> String { versions.name(result.newest, shown: shown) }

  /// The version with this name, if it is held and certainly the right state.
  package func version(named name: String) -> ResultVersion? { versions.version(named: name, newest: result.newest) }

  /// The newest version is sent to a client.
  package func newestWasSent() { versions.newestWasSent(result.newest) }

  /// Makes earlier versions invalid, because the columns changed.
  func forgetVersions() {
    versions.forget(nil)
    if isFollowing { versions.beginSpan() }
  }

  /// Names versions by another epoch from now on.
  func enterEpoch(_ names: VersionNames) {
    versions.forget(names)
    let before = versions.commits.before
    advance { $0.epochEntered(before: before) }
    if isFollowing { versions.beginSpan() }
  }

  /// For each row of the newest version, the columns in which it may differ from `held`.
  package func changedColumns(of rows: [SectionedTree.Row], since held: ResultVersion) -> [ColumnSet] {
    versions.changedColumns(of: rows, since: held, reader, compiled)
  }
}

extension CommitNumber {
  /// The highest commit that certainly does not belong to a later state.
  fileprivate var certain: Int64 { isExact ? commit : commit - 1 }
}
