package import ChangeCapture
package import Following
import Ground
package import LiveQuery
import QueryCompiler
import RankedCollections
package import Requests
import Store

/// The lists that a follower follows.
///
/// It reports what happens to the lists in a tick as events, and calls no later step of the tick.
///
/// Owner: the follower's thread.
package final class Lists {
  package let context: FollowerContext
  /// The file; nil while none is open.
  @exclusivity(unchecked) package var database: OpenDatabase?
  /// Why the file could not be opened.
  package private(set) var openingFailure: FreshetError?
  let numbers: StateNumbers
  package let evaluation: Evaluation
  package let jobs: Jobs
  /// Requests that wait for lists. A list with a waiting request is in use.
  @exclusivity(unchecked) package var requests = RequestTable()
  @exclusivity(unchecked) package private(set) var byQuery: [Query: LiveList] = [:]
  /// Queries that readers are running for the first time.
  @exclusivity(unchecked) package private(set) var openings: [Query: Opening] = [:]
  /// Queries whose lists are never released.
  private var kept: Set<Query> = []
  /// Queries whose lists keep values for other lists, with the numbers of these.
  var held: [Query: Set<Int>] = [:]
  /// The commits since which tables have not changed.
  @exclusivity(unchecked) var ages = TableAges()
  /// The memory of the previous process, because clients may come with its versions.
  @exclusivity(unchecked) var earlier: KeptMemory?
  /// Lists with subscriptions behind the newest version, or with requests that may be due.
  @exclusivity(unchecked) package private(set) var dirty: [LiveList] = []
  @exclusivity(unchecked) private var events: [ListEvent] = []

  package init(_ context: FollowerContext, _ numbers: StateNumbers, _ jobs: Jobs) {
    self.context = context
    self.numbers = numbers
    self.jobs = jobs
    evaluation = Evaluation(context.configuration.access)
  }

  /// The number of the last tick's state.
  var commit: Int64 { numbers.commit }
  /// The number of ticks that have seen changes.
  package var ticks: Int { context.statistics.ticks }
  package var capture: ChangeCapture? { database?.connection.capture }
  /// The state that the tick sees.
  var place: StatePlace? { database?.connection.place }

  // MARK: - Events

  func note(_ event: ListEvent) { events.append(event) }

  /// Returns the events of lists since the last call.
  package func takeEvents() -> [ListEvent] {
    if events.isEmpty { return [] }
    defer { events = [] }
    return events
  }

  /// Has `settle` visit the list when the tick sends messages.
  package func noteDirty(_ list: LiveList) {
    if list.isDirty { return }
    list.isDirty = true
    dirty.append(list)
  }

  /// Visits the dirty lists, including those that become dirty during the visits.
  ///
  /// - Parameter isSettled: does the work for a list, and returns whether it is complete.
  package func settle(_ isSettled: (LiveList) -> Bool) {
    var left = 0
    var next = 0
    while next < dirty.count {
      let list = dirty[next]
      next += 1
      if list.isDirty, !isSettled(list) {
        dirty[left] = list
        left += 1
      } else {
        list.isDirty = false
      }
    }
    dirty.removeLast(dirty.count - left)
  }

  // MARK: - Opening

  /// The state in which a request finds a list.
  package enum Readiness {
    /// The list shows a state that is not older than the request.
    case ready(LiveList)
    /// A reader is running the query. The request waits, under the query's number.
    case waits(id: Int)
  }

  /// Finds the query's list, or opens it.
  ///
  /// - Parameters:
  ///   - wanted: the contents that the request needs; nil if it needs no contents.
  ///   - asked: the number of ticks that had seen changes when the request was made; nil if it is made now.
  package func find(
    _ query: Query, _ wanted: WantedContents?, for requester: Requester, askedAt asked: Int? = nil
  ) -> Readiness {
    if let known = byQuery[query] {
      known.advance { $0.gotClient() }
      if known.answers(askedAt: asked ?? ticks, wanted) { return .ready(known) }
      hurry(known)
      return .waits(id: known.id)
    }
    if let opening = openings[query] { return .waits(id: opening.id) }
    let opening = Opening(query, id: Int(truncatingIfNeeded: context.readers.newID()))
    openings[query] = opening
    post(opening, for: requester, wanted)
    return .waits(id: opening.id)
  }

  /// Never releases this query's list, unless the query reads claims, because such a list belongs to one client.
  package func keep(_ query: Query) { kept.insert(query) }

  private func post(_ opening: Opening, for requester: Requester, _ wanted: WantedContents?) {
    let shape = evaluation.shapes[opening.query.withoutValues]
    let request = RunRequest(
      query: opening.query, compiled: shape?.compiled, wanted: wanted, settings: context.settings(of: opening.query),
      timeout: context.timeout(of: opening.query))
    opening.asked = commit
    opening.ticks = context.statistics.ticks
    opening.job = jobs.post(.open(opening), for: requester, { .opened($0) }) {
      database, interruption throws(FreshetError) in try database.run(request, interruption)
    }
  }

  /// Posts a first run again.
  func postAgain(_ opening: Opening, _ wanted: WantedContents?) {
    post(opening, for: requests.waiting(for: opening.id).first?.subject.requester ?? .server, wanted)
  }

  /// Called when a first run has ended.
  package func opened(_ opening: Opening, _ result: Result<RunResult, FreshetError>) {
    do throws(FreshetError) {
      let run = try result.get()
      // The query was compiled for a former schema.
      guard let place, run.place.hasSameSchema(as: place) else { return postAgain(opening, run.contents?.wanted) }
      openings[opening.query] = nil
      let list = try list(of: opening, run, place)
      keepContents(of: run, list)
      note(.answerable(list))
      mustFollowOtherwise(list)
    } catch {
      if error.code == .duplicateKey, let shape = evaluation.shapes[opening.query.withoutValues],
        shape.compiled.hasHiddenRows
      {
        runFromNowOn(shape, numbers.commits.number, because: CompiledQuery.hiddenDuplicates)
        return postAgain(opening, nil)
      }
      openings[opening.query] = nil
      note(.notOpened(id: opening.id, error))
    }
  }

  private func list(of opening: Opening, _ run: RunResult, _ place: StatePlace) throws(FreshetError) -> LiveList {
    guard let database else { throw unavailability }
    let query = opening.query
    let shape = try evaluation.shape(of: query, run.compiled, database)
    defer { if shape.lists.isEmpty { evaluation.forget(shape, of: query, capture) } }
    if shape.compiled.slowness != run.compiled.slowness
      || shape.compiled.plan.keepsRows != run.compiled.plan.keepsRows
    {
      throw FreshetError(.overloaded, "how the query is followed has just changed: try again")
    }
    let shown = run.place.isSame(as: place) ? nil : numbers.number(of: run.place, asked: opening.asked)
    let settings = context.settings(of: query)
    let list = LiveList(
      query, id: opening.id, BoundStatements(query, shape, settings),
      ListVersions(
        numbers.commits, names(of: query), rows: run.fetched.editor.tree.count, clock: context.clock),
      periods: .init(
        refetch: context.intervals.refetch, retry: context.intervals.retry,
        refresh: query.refreshEvery.map { Nanoseconds($0) }),
      fetched: run.fetched, shown: shown, ticks: opening.ticks, duration: run.duration)
    byQuery[query] = list
    holdScalars(of: list)
    if list.isLarge { context.freedRows += list.rowCount }
    if let shown { list.versions.wasShown(at: shown) }
    ages.add(shape.captured.storages.keys, at: numbers.commits.number)
    honourEarlier(list)
    schedule(list)
    return list
  }

  /// Keeps the contents that a run read until the end of the tick.
  func keepContents(of run: RunResult, _ list: LiveList) {
    guard let contents = run.contents else { return }
    noteDirty(list)
    list.reads.append(
      PendingRead(
        id: 0, contents.wanted, of: list.result.newest, name: list.nameNewest(), commit: list.shown.commit,
        contents: contents.rows, within: context.readers.contents))
  }

  /// The names of a query's versions.
  func names(of query: Query) -> VersionNames {
    VersionNames(
      query, context.configuration.access, database?.schema ?? .empty, epoch: numbers.commits.epoch.name)
  }

  /// The error to report if no database is open.
  package var unavailability: FreshetError { openingFailure ?? .databaseMissing }

  /// Called when a file was opened, or could not be opened.
  package func note(_ opened: Result<OpenDatabase, FreshetError>) {
    switch opened {
    case .success(let opened): (database, openingFailure) = (opened, nil)
    case .failure(let error): openingFailure = error
    }
  }

  // MARK: - Use

  /// Whether the list has clients or waiting requests.
  func isUsed(_ list: LiveList) -> Bool {
    list.listeners?.count ?? 0 > 0 || !list.reads.isEmpty || requests.concerns(list.id)
  }

  /// Whether readers may run the list's query. A list without clients is run only when a client comes.
  func mayRun(_ list: LiveList) -> Bool { isUsed(list) || isKept(list) }

  func isKept(_ list: LiveList) -> Bool { kept.contains(list.query) || held[list.query] != nil }

  /// Called when a client has left a list or a first run, or has stopped waiting for it.
  package func wasLeft(_ id: Int, _ query: Query) {
    if let list = byQuery[query], list.id == id { return noteIdle(list) }
    guard let opening = openings[query], !requests.concerns(opening.id) else { return }
    jobs.cancel(opening.job)
    openings[query] = nil
  }

  /// Releases a list.
  func forget(_ list: LiveList) {
    if byQuery[list.query] === list { byQuery[list.query] = nil }
    releaseScalars(of: list)
    // `settle` then skips the list.
    list.isDirty = false
    context.deadlines.remove(list)
    cancelRun(of: list)
    for read in list.reads where read.contents == nil { jobs.cancel(read.id) }
    context.freedRows += list.rowCount + LiveList.rowsWorthOfStatements
    list.close()
    if list.shape.lists.isEmpty {
      cancelRecompilation(of: list.shape)
      evaluation.forget(list.shape, of: list.query, capture)
    }
  }

  /// Breaks the cycles between lists, shapes and subscriptions when the follower ends.
  package func close() {
    for list in byQuery.values { forget(list) }
    for opening in openings.values { jobs.cancel(opening.job) }
    openings = [:]
    events = []
  }

  /// Called when a tick has found which epoch the file is in, or a file was opened.
  package func note(_ change: StateNumbers.EpochChange) {
    // Sessions are sent the new epoch before anything that belongs to it.
    if change.isNew { context.output.epochChanged() }
    if change.isEntered { enterEpoch() }
  }

  /// Begins another epoch for the names of versions. Clients still get patches.
  private func enterEpoch() {
    for list in byQuery.values {
      list.enterEpoch(names(of: list.query))
      readAgain(list)
      noteDirty(list)
    }
    for opening in openings.values {
      jobs.cancel(opening.job)
      forgetHeld(opening.id)
      postAgain(opening, nil)
    }
  }

  /// Has contents read again, because what readers are reading may belong to the former epoch.
  private func readAgain(_ list: LiveList) {
    if list.machine.isRunning || list.reads.contains(where: { $0.contents == nil }) {
      outdate(list, numbers.commits.before, due: .distantPast)
      schedule(list)
    }
    forgetHeld(list.id)
  }

  /// Forgets the versions that clients named in their requests, because they belong to another epoch.
  private func forgetHeld(_ id: Int) {
    requests.update(for: id) { entry in
      if case .snapshot(let request, let held?) = entry.subject {
        entry.subject = .snapshot(request, held: (nil, held.name))
      }
    }
  }
}
