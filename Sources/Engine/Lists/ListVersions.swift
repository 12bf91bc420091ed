package import Following
import Ground
package import LiveQuery
import QueryCompiler
package import RankedCollections
import Store

/// The versions of one list: their names, the commits at which each was the result, and the columns that each changed.
///
/// A version is known to be the result at intervals of commits. If a client names commit 17, one look-up in these
/// intervals finds its version. The answer is the same if another server of the epoch gave the name. See
/// `VersionNames`, `VersionHistory`.
package struct ListVersions {
  /// The states that the follower has seen.
  package let commits: FollowedCommits
  private var names: VersionNames
  private let clock: MonotonicClock
  /// A part of the names of versions that have no certain commit. It is random, so that the names of two lists never
  /// agree.
  private var nonce = ListVersions.newNonce
  /// The number of versions that were made apart from the sequence of newest versions.
  private var sideVersions = 0
  /// The tick that brought the list to its newest version.
  private var newestTick: UInt64 = 0
  private var history: VersionHistory
  /// The estimated memory that the newest version takes in addition to the previous one, in bytes.
  private var newestBytes: Int
  /// The columns that each of the newest versions changed, by unit; nil if any may have changed. It is a slice, because
  /// removing its first element does not move the others.
  private var changes: ArraySlice<(version: Int, units: ConcernedUnits?)> = []
  /// The number of units in `changes`, which is limited. A client whose version is older gets all columns of a changed
  /// row.
  private var notedUnits = 0
  private static let notedUnitsLimit = 20_000

  /// The size of a change, from which the memory of a version is estimated.
  enum Bytes {
    /// The number of changed units.
    case changes(Int)
    /// The number of rows of a run, and of changed units; nil if the results were not compared.
    case rows(Int, changed: Int?)

    /// The approximate bytes of tree nodes that a change of one row copies.
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

  /// Called when the newest version is sent to a client, which may resume with its name.
  mutating func newestWasSent(_ newest: ResultVersion) {
    history.add(newest, bytes: newestBytes, now: clock.now)
  }

  // MARK: - Names

  private static var newNonce: String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

  /// The newest version's name, in the state that the list shows.
  mutating func name(_ newest: ResultVersion, shown: CommitNumber) -> String {
    guard names.isByCommit, shown.isExact else { return "\(nonce)-\(newest.number)" }
    history.note(shown.commit)
    return names.name(at: shown.commit)
  }

  /// A new name of a version that was made apart from the newest ones.
  mutating func newSideName(of version: ResultVersion, at number: CommitNumber) -> String {
    if names.isByCommit, number.isExact { return names.name(at: number.commit) }
    sideVersions += 1
    return "\(nonce)-\(version.number)-\(sideVersions)"
  }

  /// The version with this name, if it is held and was certainly the result at the named commit.
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
  /// - Parameter names: the names in the new epoch; nil if the epoch continues.
  mutating func forget(_ names: VersionNames?) {
    nonce = Self.newNonce
    history.removeAll()
    if let names { self.names = names }
  }

  // MARK: - Intervals of commits

  /// Called when the shown rows were read in the state with this number.
  mutating func wasShown(at number: CommitNumber) {
    if number.isExact, mayBe(at: number.commit) { history.note(number.commit) }
  }

  /// From now on, the newest version counts as the result at every commit that a tick sees.
  mutating func beginSpan() {
    let number = commits.number
    let first = number.isExact ? number.commit : number.commit + 1
    if mayBe(at: first) { history.begin(at: first) }
  }

  /// The query's part in the names of versions; nil if versions are not named by commits.
  var queryName: String? { names.queryName }

  /// The first commit of the span in which the newest version is the result at every commit that a tick sees; nil if
  /// there is no such span.
  var spanStart: Int64? { history.newest.openFrom }

  /// Called when the newest version was the result at every commit that a tick has seen since this one.
  mutating func extendSpan(to first: Int64) { history.extend(to: first) }

  /// Called when it is unknown whether the newest version is the result after this state.
  mutating func endSpan(at number: CommitNumber) { history.end(at: number.certain) }

  /// The state that a following list shows if the present tick does not advance it.
  ///
  /// - Parameter before: the number of the last tick's state.
  func shown(unlessFollowedFrom before: CommitNumber) -> CommitNumber {
    newestTick == commits.ticks ? commits.number : before
  }

  /// Called when the result has become another version.
  ///
  /// - Parameter units: the changed units; nil if unknown.
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
    // A version counts as one unit in addition to its own, so that versions without units do not accumulate.
    notedUnits += 1 + (units?.count ?? 0)
    while notedUnits > Self.notedUnitsLimit, let oldest = changes.first {
      notedUnits -= 1 + (oldest.units?.count ?? 0)
      changes.removeFirst()
    }
  }

  /// Whether the newest version can be the result at a commit. It cannot if another version was the result at this or a
  /// later commit: then a program other than the replication wrote to a replica's file, and from now on versions of
  /// this query are not named by commits.
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
      // The row with this key may belong to another unit now.
      let mayBeAnother =
        !identityIsUnit && compiled.keyColumns.indices.contains { columns.contains($0) }
      return columns.isEmpty || mayBeAnother ? .all : columns
    }
  }
}

extension LiveList {
  /// Names the newest version in the state that the list shows. A client may resume with the name.
  package func nameNewest() -> String { versions.name(result.newest, shown: shown) }

  /// The version with this name, if it is held and was certainly the result at the named commit.
  package func version(named name: String) -> ResultVersion? { versions.version(named: name, newest: result.newest) }

  /// Called when the newest version is sent to a client.
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
