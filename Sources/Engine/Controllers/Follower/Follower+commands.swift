import ChangeCapture
import Delivery
import Following
import Ground
import Lists
import LiveQuery
import Requests
import Store
import Wire

// Performs commands of other threads, each at the state that the tick sees.
extension Follower {
  /// Performs commands until their time is over. Sessions take turns.
  func performCommands() {
    for command in inbox.takeControl() { perform(command) }
    if inbox.isEmpty { return }
    let end = context.clock.now + Self.commandTime
    repeat {
      guard let command = inbox.next() else { return }
      perform(command)
    } while context.clock.now < end
    if !inbox.isEmpty { context.mustTick = true }
  }

  /// The time in which one tick performs commands.
  private static let commandTime = Nanoseconds.milliseconds(2)

  func perform(_ command: FollowerCommand) {
    // An error concerns this command only.
    defer {
      lists.database?.connection.transaction.restore()
      deliverEvents()
    }
    let narrowed = lists.evaluation.narrowed
    switch command {
    case .subscribe(var command):
      command.query = narrowed(command.query)
      delivery.subscribe(command)
    case .request(let key, .requery(let query, let window), let ticket):
      delivery.perform(.init(request: .requery(narrowed(query), window), ticket: ticket), key)
    case .request(let key, let request, let ticket): delivery.perform(.init(request: request, ticket: ticket), key)
    case .unsubscribe(let key): delivery.unsubscribe(key)
    case .end(let key, let error): delivery.end(key, error)
    case .sessionClosed(let session): delivery.sessionClosed(session)
    case .snapshot(var request):
      request.query = narrowed(request.query)
      answers.answer(request)
    case .keep(let query): answers.keep(narrowed(query))
    case .abandon(let request): answers.abandon(request)
    case .explain(let query, let request, let reply): answers.explain(narrowed(query), request, reply)
    case .schema(let access, let request, let reply): answers.list(access, request, reply)
    case .commit(let reply): reply(numbers.commit)
    case .awaitCommit(let waiter): numbers.awaited.add(waiter)
    case .status(let reply): reply(status(readingFailure))
    case .report(let report): perform(report)
    case .stop: stop()
    }
  }

  /// Answers a command with an error if the database cannot be read.
  func refuse(_ command: FollowerCommand, _ error: FreshetError) {
    switch command {
    case .subscribe(let command): delivery.refuse(command, error)
    case .snapshot(let request): request.reply(.failure(error))
    case .request(let key, _, _): context.output.send(.error(error, isFatal: false), shape: .arrays, to: key)
    case .explain(_, _, let reply): reply(.failure(error))
    case .schema(_, _, let reply): reply(.failure(error))
    case .status(let reply): reply(status(error))
    case .report(let report): perform(report.failed(error))
    // The last known number may belong to a state before the client's write.
    case .commit(let reply): state.unnumbered.append((context.clock.now + context.intervals.queryTimeout, reply))
    case .unsubscribe, .end, .sessionClosed, .keep, .abandon, .awaitCommit, .stop: perform(command)
    }
  }

  /// Answers requests for a commit number that earlier ticks could not answer, or that have waited too long.
  ///
  /// - Parameter number: nil if this tick could not read the database either.
  func numberCommits(_ number: Int64?) {
    if state.unnumbered.isEmpty { return }
    let now = context.clock.now
    let isOver = { (deadline: Instant) in number != nil || deadline <= now }
    for (deadline, reply) in state.unnumbered where isOver(deadline) { reply(number) }
    state.unnumbered.removeAll { isOver($0.deadline) }
  }

  private func perform(_ report: ReaderReport) {
    guard let purpose = lists.jobs.end(report.id) else { return }
    switch (purpose, report.outcome) {
    case (.open(let opening), .opened(let result)): lists.opened(opening, result)
    case (.run(let list), .ran(let result)): lists.ran(list, report.id, result)
    case (.read(let list), .read(let result)): lists.ended(report.id, of: list, result)
    case (.recompile(let shape), .recompiled(let result)): lists.recompiled(shape, result)
    case (.check(let check), .checked(let result)): checks.ended(check, result)
    default: preconditionFailure("a reader's report has the outcome of another job")
    }
  }

  private func status(_ failure: FreshetError?) -> FollowerStatus {
    FollowerStatus(
      readingFailure: failure, statistics: statistics, lists: OpenLists(lists.byQuery.values.map { $0 }))
  }

  private var statistics: FollowerStatistics {
    var result = context.statistics
    if let capture = lists.capture { result.capture = capture.statistics }
    result.controllers = lists.byQuery.count
    result.subscriptions = delivery.subscriptionCount
    result.versions = lists.byQuery.values.reduce(0) { $0 + $1.versions.count }
    return result
  }

  /// The error that keeps lists from being read, even if the tick could begin; nil if there is no error.
  private var readingFailure: FreshetError? {
    // An open file can still be read after it has lost its name, and SQLite's cache even without the file.
    if followed.isMissing { return FreshetError.databaseMissing }
    if lists.database == nil, let failure = lists.openingFailure { return failure }
    if lists.byQuery.isEmpty || lists.byQuery.values.contains(where: { !$0.machine.hasFailed }) { return nil }
    return FreshetError(.overloaded, "no list can be read at the moment")
  }
}

extension OpenLists {
  /// Describes only the lists that are shown, because sending messages waits for this.
  fileprivate init(_ lists: [LiveList]) {
    let sorted = lists.sorted { $0.audience.subscriptions.count > $1.audience.subscriptions.count }
    self.init(
      mostShared: sorted.prefix(OpenLists.shown).map(\.description), count: sorted.count,
      subscriptions: sorted.reduce(0) { $0 + $1.audience.subscriptions.count })
  }
}
