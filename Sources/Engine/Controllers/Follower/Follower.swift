import ChangeCapture
import Delivery
import Following
import Ground
import Lists
import LiveQuery
import Logging
import Requests
import Store

/// Follows the lists of one file, in steps: tick, rest, repeat.
///
/// A tick reads one state of the file in one transaction. It passes through the follower's parts from left to right,
/// and no part calls back:
///
/// ```
/// file ─► capture ─► lists (evaluation, runs, trees) ─► requests that wait ─► delivery ─► messages
/// ```
///
/// Owner of all state: the thread that steps it now.
final class Follower: Stepped {
  let context: FollowerContext
  let followed: FollowedConnection
  let numbers: StateNumbers
  let lists: Lists
  let checks: ListChecks
  let answers: SnapshotAnswers
  let delivery: Delivery
  /// Commands taken from the mailbox that are not performed yet.
  @exclusivity(unchecked) var inbox: Inbox
  @exclusivity(unchecked) var state = State()
  @exclusivity(unchecked) var keeping = Keeping()

  struct State {
    var notices = FileNotices()
    /// Whether subscribers were sent the error that ticks cannot read the database.
    var hasAnnouncedOutage = false
    /// Whether workers step the follower, so that it may rest.
    var isPaced = false
    var isStopping = false
    /// The time from which on ticks may do without a transaction.
    var framesAloneAt = Instant.distantPast
    /// Requests for a commit number that wait until the database can be read.
    var unnumbered: [(deadline: Instant, reply: @Sendable (Int64?) -> Void)] = []
    /// The time since which nothing has been followed.
    var unusedSince: Instant?
    /// Whether the connection was closed because nothing is followed.
    var isReleased = false
  }

  init(
    _ configuration: FollowerConfiguration, output: any SubscriptionOutput, readers: ReaderPool, logger: Logger,
    thread: FollowerThread
  ) throws {
    context = FollowerContext(
      configuration, output: output, readers: readers, logger: logger, number: thread.number)
    var settings = ChangeCapture.Settings()
    settings.memoryLimit = configuration.captureBytes
    let file = readers.file
    followed = FollowedConnection(
      file, settings, clock: context.clock, thread: thread.wake, readsPosition: configuration.readsPosition,
      logger: logger
    ) {
      [number = thread.number] in configuration.keeper?.restored(number)?.state
    }
    numbers = StateNumbers(configuration, file.numbers, file.epochs)
    lists = Lists(context, numbers, Jobs(readers, thread))
    checks = ListChecks(lists)
    answers = SnapshotAnswers(lists, checks)
    delivery = Delivery(lists, checks, answers)
    inbox = Inbox(thread)
    do { if let opened = try followed.open() { fileWasOpened(opened) } } catch let error as SQLiteFailure
      where error.isLock
    {
      // The follower starts without a connection and retries, as for a missing file, because locks end.
      lists.note(.failure(FreshetError(unreadable: error)))
      if thread.number == 0 {
        logger.warning("the database is locked: waiting for it", metadata: ["path": "\(configuration.path)"])
      }
    }
  }

  /// The most steps of SQLite's virtual machine in a tick for statements without a bound of their own, about a second.
  private static let mostSteps = 50_000_000

  /// Performs one tick of the work that is due, without waiting.
  func tickOnce() {
    if inbox.takeIn() { context.mustTick = true }
    if staysReleased() { return }
    followed.restoreSharedMemory()
    let now = context.clock.now
    let isResting = inbox.isEmpty && rest(now) > .zero
    let hasChanged = !isResting && !isUnused && followed.hasCommit(isPaced: isPaced)
    if followed.mayBeReplaced(hasCommit: hasChanged) { openIfReplaced() }
    if hasChanged || context.mustTick || !inbox.isEmpty || context.clock.now >= context.deadlines.next { tick() }
    if context.clock.now >= numbers.awaited.nextDeadline { numbers.awaited.refuseOverdue(context.clock.now) }
    inbox.report()
    context.output.flush()
    checks.step(isBusy: isFailing)
    // Memory is returned after the tick, so that clients that wait for its messages are not delayed.
    lists.returnFreeMemory()
    keepState()
    releaseIfUnused()
  }

  /// Whether ticks cannot read the database.
  var isFailing: Bool { followed.isFailing }
  var isPaced: Bool { state.isPaced }
  func stop() { state.isStopping = true }

  /// A step of the workers.
  func step() -> Rest {
    state.isPaced = true
    followed.resume()
    tickOnce()
    if !state.isStopping { return .pause(pause) }
    close()
    return .ended
  }

  func postpone() -> Nanoseconds? { followed.postpone() }

  /// Must be called once, after the last step.
  func close() {
    catchUp()
    keepLastState()
    delivery.close()
    lists.close()
    for command in inbox.takeEverything() {
      if case .awaitCommit(let waiter) = command { waiter.refuse(CommitWaiter.stopping) }
      if case .commit(let reply) = command { reply(nil) }
    }
    numbers.awaited.refuseAll(CommitWaiter.stopping)
    for (_, reply) in state.unnumbered { reply(nil) }
  }

  // MARK: - Ticks

  /// Ticks until this capture has reached the state of the others. Called before a state is kept.
  func catchUp() { lists.capture?.catchUp { tick() } }

  private func tick() {
    let start = context.clock.now
    context.mustTick = false
    do {
      guard let connection = lists.database?.connection else { throw lists.unavailability }
      let ticks = context.statistics.ticks
      numbers.prepare()
      let begun = lists.jobs.takeBegun()
      connection.deadline.boundOutside(steps: Self.mostSteps)
      let changed = mayReadFramesAlone(begun) ? connection.changedTables() : nil
      let readsFramesAlone = changed.map(lists.evaluation.readsNothingElse) ?? false
      try connection.tick(readsFramesAlone: readsFramesAlone) {
        checks.note(try lists.follow(connection, begun), connection.capture)
        deliverEvents()
        if state.hasAnnouncedOutage { delivery.announceRecovery() }
        performCommands()
        numberCommits(numbers.commit)
        numbers.awaited.reached(numbers.commit, in: numbers.commits.epoch.name)
        delivery.flush()
        deliverEvents()
        // These are pages of tables that are followed since this tick, or that are large.
        if connection.capture.readOn() { context.mustTick = true }
      }
      if connection.hasReadFramesAlone { noteFramesAlone(connection) }
      followed.noteTick()
      if context.number == 0 {
        state.notices.note(connection.capture, of: context.configuration.path, context.logger)
      }
      state.hasAnnouncedOutage = false
      if context.statistics.ticks > ticks {
        let end = context.clock.now
        context.statistics.tickDurations.note(end - start)
        followed.noteTick(from: start, to: end)
      }
    } catch {
      // The commands wait for the next tick.
      if reopenIfUseless() { return }
      // The lists keep what they show. The next tick follows the same changes again, which is harmless.
      let failure = FreshetError(unreadable: error)
      noteOutage(error, failure)
      for command in inbox.takeAll() { refuse(command, failure) }
      numberCommits(nil)
      if !state.unnumbered.isEmpty { context.mustTick = true }
      deliverEvents()
    }
  }

  /// Whether this tick probably needs to read only what lists and patches require.
  private func mayReadFramesAlone(_ begun: [BegunRun]) -> Bool {
    begun.isEmpty && inbox.isEmpty && !isFailing && lists.requests.isEmpty && delivery.isIdle
      && context.clock.now >= state.framesAloneAt
  }

  /// Called after a tick that began without a transaction. If it could not read everything that it needed, the next
  /// ticks have transactions.
  private func noteFramesAlone(_ connection: DatabaseConnection) {
    context.statistics.frameTicks += 1
    if connection.hasLostState { context.statistics.lostStates += 1 }
    if connection.hasLostState { state.framesAloneAt = context.clock.now + .milliseconds(1_000) }
    if connection.hasLostState || connection.capture.isReading { context.mustTick = true }
  }

  func deliverEvents() {
    while case let events = lists.takeEvents(), !events.isEmpty { for event in events { delivery.handle(event) } }
  }
}
