import ChangeCapture
import LiveQuery
import Store

// What the states of the file are called: their numbers, and the epochs that these belong to.
extension Follower {
  /// A tick has found out what changed. Numbers the state that it sees.
  func takeNumber(_ tick: CapturedTick, _ connection: DatabaseConnection) {
    if let position = connection.position { return take(position, connection.file) }
    let isNewest = epochs.isNewest(commits.epoch)
    if tick.isQuiet, isNewest { return commits.see(commits.number) }
    let number = numbers.number(of: connection.capture.state, before: commit, commits: tick.commits)
    if !isNewest, let newest = epochs.joined(by: connection.file), newest != commits.epoch {
      enter(newest, at: number)
    } else {
      commits.see(number)
    }
  }

  /// The file says itself which state it is in.
  private func take(_ position: ReplicaPosition, _ file: FileIdentity) {
    let number = CommitNumber(position.commit, isExact: true)
    let epoch = commits.epoch
    let isOther = position.epoch != epoch.name
    let hasFallen = !isOther && position.commit < commit
    if !isOther, !hasFallen, epochs.isNewest(epoch) { return commits.see(number) }
    let (newest, isNew) = epochs.read(
      position.epoch, hasFallen: hasFallen, in: epoch, ticket: ticket,
      isOfFile: FileIdentity(path: configuration.path) == file)
    if newest == epoch, !hasFallen { return commits.see(number) }
    enter(newest, at: number)
    if isNew { output.epochChanged() }
  }

  /// A file was opened, perhaps in the place of another one.
  func fileWasOpened(_ file: FileIdentity) {
    // A replica's says itself what its states are called.
    if configuration.readsPosition { return }
    let (epoch, isNew) = epochs.opened(file)
    if isNew { numbers.forgetStates() }
    if epoch != commits.epoch { enter(epoch, at: nil) }
    if isNew { output.epochChanged() }
  }

  /// From now on versions are those of another epoch. What clients have of their lists is led on from all the same.
  ///
  /// - Parameter number: of the state that the tick sees; nil: none of the epoch was seen yet.
  private func enter(_ epoch: FileEpochs.Epoch, at number: CommitNumber?) {
    commits.enter(epoch, at: number)
    for query in queries.values {
      query.forgetVersions(names(of: query.query))
      readAgain(query)
      dirty[ObjectIdentifier(query)] = query
    }
    for opening in openings.values {
      readers.cancel(opening.id)
      openingsByJob[opening.id] = nil
      opening.waiting = opening.waiting.map { ($0.command, commit) }
      post(opening, for: opening.waiting.first?.command.requester ?? .server, nil)
    }
  }

  /// What readers read may be of before.
  private func readAgain(_ query: FetchedResultsController) {
    let isRunning = if case .running = query.phase { true } else { false }
    if isRunning || query.reads.contains(where: { $0.contents == nil }) {
      cancelRun(of: query)
      query.phase = .stale(shown: query.shown(unlessFollowedFrom: commits.before), due: .distantPast)
      askAgain(query)
      scheduleRun(of: query)
    }
    query.blocked = query.blocked.map { ($0.command, commit) }
    query.blockedSubscriptions = query.blockedSubscriptions.map { ($0.subscription, commit) }
  }

  /// What the versions of a query are called.
  func names(of query: Query) -> VersionNames {
    VersionNames(query, configuration.access, database?.schema ?? .empty, epoch: commits.epoch.name)
  }

  /// The number of the state that a reader saw; one not above it where that is not known.
  ///
  /// - Parameter asked: that of the last tick when the reader was asked.
  func number(of place: StatePlace, asked: Int64) -> CommitNumber {
    guard let position = place.position else { return numbers.number(of: place.state, notBefore: asked) }
    let isOfEpoch = position.epoch == commits.epoch.name && position.commit <= commit
    return isOfEpoch ? CommitNumber(position.commit, isExact: true) : CommitNumber(asked, isExact: false)
  }
}
