import LiveQuery

// What versions are called, and which are known at which commits. See `VersionNames`.
extension FetchedResultsController {
  static var newNonce: String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

  /// The name of the newest version at the state that is shown: a client is told it, and may come back with it.
  func nameNewest() -> String {
    let shown = shown
    guard names.isByCommit, shown.isExact else { return "\(nonce)-\(result.newest.number)" }
    history.note(shown.commit)
    return names.name(at: shown.commit)
  }

  /// The name of a version that was made beside the newest ones.
  func newSideName(of version: ResultVersion, at number: CommitNumber) -> String {
    if names.isByCommit, number.isExact { return names.name(at: number.commit) }
    sideVersions += 1
    return "\(nonce)-\(version.number)-\(sideVersions)"
  }

  /// The version of a name that a client gave, if that state is held for certain.
  func version(named name: String) -> ResultVersion? {
    if let commit = names.commit(of: name) {
      if history.newest.contains(commit, commits.seen) { return result.newest }
      return history.version(at: commit, commits.seen)
    }
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == nonce, let number = Int(parts[1]) else { return nil }
    return number == result.newest.number ? result.newest : history.version(number)
  }

  /// What is shown was read in the state of this number.
  func wasShown(at number: CommitNumber) {
    if number.isExact, mayBe(at: number.commit) { history.note(number.commit) }
  }

  /// Versions of before are worth nothing: those of another epoch, or with other columns.
  ///
  /// - Parameter names: in the epoch that begins; nil: it goes on.
  func forgetVersions(_ names: VersionNames? = nil) {
    nonce = Self.newNonce
    history.removeAll()
    if let names {
      self.names = names
      for place in waiters.indices { waiters[place].held = nil }
      switch phase {
      case .following: break
      case .stale(_, let due): phase = .stale(shown: commits.before, due: due)
      case .running(var run):
        run.shown = commits.before
        phase = .running(run)
      }
    }
    if isCurrent { beginSpan() }
  }

  /// What it shows when the present tick does not follow it any further.
  ///
  /// - Parameter before: the number of the state that the last tick saw.
  func shown(unlessFollowedFrom before: CommitNumber) -> CommitNumber {
    shownBefore ?? (newestTick == commits.ticks ? commits.number : before)
  }

  /// Followed from now on, it is known at every commit that a tick sees.
  func beginSpan() {
    let number = commits.number
    let first = number.isExact ? number.commit : number.commit + 1
    if mayBe(at: first) { history.begin(at: first) }
  }

  func notePhase(_ before: Phase) {
    switch (before, phase) {
    case (.following, .following): break
    case (.following, .stale(let shown, _)): history.end(at: shown.certain)
    case (.following, .running(let run)): history.end(at: run.shown.certain)
    case (_, .following): beginSpan()
    default: break
    }
  }

  /// The result has just become another version.
  func noteVersion() {
    if isCurrent {
      history.end(at: commits.before.certain)
      newestTick = commits.ticks
    }
    history.supersede(result.newest.number - 1)
    if isCurrent { beginSpan() }
  }

  /// Whether the newest version can be the result at a commit. Another one was where somebody else wrote to a replica's file: then
  /// commits name no versions of this query.
  private func mayBe(at commit: Int64) -> Bool {
    if commit > history.superseded { return true }
    names.isByCommit = false
    history.removeAll()
    return false
  }
}

extension CommitNumber {
  /// The highest commit that is certainly not of a later state.
  fileprivate var certain: Int64 { isExact ? commit : commit - 1 }
}
