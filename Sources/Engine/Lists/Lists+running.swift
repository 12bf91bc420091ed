import ChangeCapture
import Following
import Ground
package import LiveQuery
import QueryCompiler
import RankedCollections
package import Requests
import Store

// Runs queries again. A reader sees a state of its own. The tick that takes its result sees the same state or a newer
// one, and looks up what changed since the job was posted, which brings the result to the tick's state. Looking up too
// much is harmless. Ticks report only differences between their own states, so a row that changed and changed back
// would be missed. Therefore readers report at once which state they see, and the next tick stops there.
extension Lists {
  /// Registers the list's deadline.
  func schedule(_ list: LiveList) { if let due = list.machine.due { context.deadlines.wake(list, at: due) } }

  /// Attends to lists whose deadline has passed.
  func attendToDue() {
    let now = context.clock.now
    for list in context.deadlines.takeDue(now) {
      if letGoIfIdle(list, now) { continue }
      if let due = list.machine.due {
        if due > now { context.deadlines.wake(list, at: due) } else if mayRun(list) { run(list) }
      }
      // When the tick sends, `settle` then visits the list's subscriptions and waiting requests.
      noteDirty(list)
    }
  }

  /// Called when a request waits for the query's present result.
  package func hurry(_ list: LiveList) { if !list.isFollowing { run(list) } }

  /// Posts a run of the query to a reader, unless one is in progress.
  func run(_ list: LiveList) {
    if list.machine.isRunning { return }
    if list.shape.isOutdated { return recompile(list.shape) }
    let request = runRequest(list, wanted(of: list), fromNothing: list.machine.isDistrusted)
    let id = jobs.post(.run(list), for: requester(of: list), tellsState: true, { .ran($0) }) {
      database, interruption throws(FreshetError) in try database.run(request, interruption)
    }
    list.advance { [shown = list.shown] in
      $0.began(id, asked: commit, ticks: ticks, shown: shown)
    }
    if !list.compiled.plan.aggregates.isEmpty { list.groupLog = capture.map { GroupLog(from: $0.seenState) } }
    context.statistics.refetches += 1
  }

  /// The contents that a request waits for, which the run reads as well.
  private func wanted(of list: LiveList) -> WantedContents? {
    list.listeners?.awaited
  }

  /// The client whose share of the readers a run takes.
  func requester(of list: LiveList) -> Requester {
    (list.listeners?.session).map { .session($0) }
      ?? requests.waiting(for: list.id).first?.subject.requester ?? .server
  }

  /// The request to run a list's query.
  ///
  /// - Parameter fromNothing: whether to ignore the known result.
  func runRequest(_ list: LiveList, _ wanted: WantedContents?, fromNothing: Bool = false) -> RunRequest {
    // The reader does not need the groups, which change here while it reads.
    var memory = list.reader.memory
    (memory.groups, memory.rows) = (nil, nil)
    return RunRequest(
      query: list.query, compiled: list.compiled,
      before: fromNothing ? nil : (list.result.editor, memory),
      wanted: wanted, settings: context.settings(of: list.query), timeout: context.timeout(of: list.query))
  }

  func cancelRun(of list: LiveList) { if let id = list.advance({ $0.cancelled() }) { jobs.cancel(id) } }

  /// Notes the runs that can be joined: those that began in a state at which a tick has stopped.
  func note(_ begun: [BegunRun]) {
    guard let capture, !begun.isEmpty else { return }
    for begun in begun {
      guard let list = jobs.list(runBy: begun.id) else { continue }
      let passed = capture.hasPassed(begun.state) ? begun.state : nil
      list.advance { $0.readerBegan(begun.id, passed: passed) }
    }
    jobs.forgetBegun()
  }

  /// Called when a run has ended.
  package func ran(_ list: LiveList, _ id: UInt64, _ result: Result<RunResult, FreshetError>) {
    guard let run = list.advance({ $0.ended(id) }) else { return }
    switch result {
    case .failure(let error):
      let compiled = list.compiled
      fail(list, error, run.shown)
      // If the list is now followed in another way, it is run at once, and requests need not be refused.
      if !error.isFinal, list.compiled === compiled, !list.shape.isOutdated { note(.notRun(list, error)) }
    case .success(let result):
      guard let place, result.place.hasSameSchema(as: place), result.compiled === list.compiled else {
        list.advance { $0.endedTooEarly() }
        return schedule(list)
      }
      join(list, run, result, place)
    }
  }

  private func join(_ list: LiveList, _ run: ListMachine.Run, _ result: RunResult, _ place: StatePlace) {
    let shown = numbers.number(of: result.place, asked: run.asked)
    var isNew = list.install(result.fetched, at: shown, duration: result.duration)
    if list.isLarge { context.freedRows += list.rowCount }
    let join = list.advance {
      $0.joined(
        run, shown: shown, state: result.place.state, isTicksState: result.place.isSame(as: place), ticks: ticks,
        canLookUp: !list.compiled.isRefetched)
    }
    list.versions.wasShown(at: shown)
    keepContents(of: result, list)
    defer { list.groupLog = nil }
    switch join {
    case .complete, .later: break
    case .lookUp(let units, let isAlongside):
      let scalars = isAlongside ? scalars(of: list) : [:]
      guard let scalars, catchUp(list, units, since: result.place.state) else {
        mustRunAgain(list, shown)
        break
      }
      isNew =
        catchUp(list) { () throws(FreshetError) in try list.update(units, alongside: isAlongside, scalars: scalars) }
        || isNew
    case .runHere:
      let start = context.clock.now
      isNew = catchUp(list) { () throws(FreshetError) in try list.runHere() } || isNew
      context.readers.slow.note(list.query, context.clock.now - start)
    }
    mustFollowOtherwise(list)
    if isNew { noteDirty(list) }
    honourEarlier(list)
    schedule(list)
    if byQuery[list.query] === list { note(.answerable(list)) }
  }

  /// Brings a run's result to the tick's state.
  ///
  /// - Parameter body: brings the list up to date, and returns as `LiveList.update` does.
  /// - Returns: whether there is a new version.
  private func catchUp(_ list: LiveList, _ body: () throws(FreshetError) -> Bool?) -> Bool {
    guard let deadline = database?.connection.deadline else { return false }
    do throws(FreshetError) {
      guard let isNew = try deadline.limited(to: context.timeout(of: list.query), body) else {
        tellsNothing(list, list.shown)
        return false
      }
      list.advance { $0.caughtUp() }
      return isNew
    } catch {
      fail(list, error, list.shown)
      return false
    }
  }

  // MARK: - Contents

  /// Posts a read of the newest version's contents to a reader, unless one is in progress.
  package func read(_ wanted: WantedContents, of list: LiveList, for requester: Requester) -> PendingRead? {
    let newest = list.result.newest
    if let pending = list.reads.first(where: { $0.wanted == wanted && $0.version === newest && $0.contents == nil }) {
      return pending
    }
    guard let place else { return nil }
    let request = ReadRequest(run: runRequest(list, wanted), wanted: wanted, tree: newest.tree, place: place)
    let id = jobs.post(.read(list), for: requester, { .read($0) }) { database, interruption throws(FreshetError) in
      try database.read(request, interruption)
    }
    let read = PendingRead(
      id: id, wanted, of: newest, name: list.nameNewest(), commit: list.shown.commit, within: context.readers.contents)
    list.reads.append(read)
    list.advance { $0.gotClient() }
    return read
  }

  /// Called when contents were read, or could not be read.
  package func ended(_ id: UInt64, of list: LiveList, _ result: Result<ReadResult, FreshetError>) {
    guard let read = list.reads.first(where: { $0.id == id }) else { return }
    var hasMoved = false
    switch result {
    case .failure(let error): read.end(.failure(error))
    case .success(.contents(let rows)): read.end(.success(rows))
    case .success(.moved(let run)):
      hasMoved = true
      let version = ResultVersion(
        number: read.version.number, tree: run.fetched.editor.tree.rows(at: list.compiled.shown),
        alongside: run.fetched.alongside)
      let number = numbers.number(of: run.place, asked: read.commit)
      read.end(
        at: version, name: list.versions.newSideName(of: version, at: number), commit: number.commit,
        run.contents?.rows ?? PackedRows(columnCount: list.compiled.columns.count))
    }
    noteDirty(list)
    note(.contentsRead(list, read, hasMoved: hasMoved))
  }

  /// Cancels reads that no client waits for any more.
  package func cancelUnwantedReads(of list: LiveList) {
    list.reads.removeAll { read in
      let isWanted =
        read.contents != nil || list.listeners?.awaits(read.wanted.window) == true
        || requests.waiting(for: list.id).contains { $0.state.isContents(of: read.id) }
      if !isWanted { jobs.cancel(read.id) }
      return !isWanted
    }
  }
}
