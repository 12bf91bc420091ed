import ChangeCapture
import LiveQuery
import QueryCompiler
import RankedCollections
import Store

// What readers do for this follower, and how it joins the followed lists. A reader sees a state of the file of its own. By the
// time its result arrives, the tick that takes it sees the same state or a newer one: what changed since the job was posted is
// looked up then, which brings the result to the tick's state. Looking up too much is harmless. Too little it would be if ticks told
// of nothing but the difference of their own states: a row that a commit changed before the reader's state, and another changed
// back after it, is none. So readers say at once which state they see, and the next tick goes through it.
extension Follower {
  /// A followed query that a command can be performed on now; nil: the command was put by, and is performed later.
  ///
  /// - Parameter wanted: the contents that the command is about to send; nil: none.
  func ready(_ query: Query, for command: FollowerCommand, _ wanted: WantedContents? = nil) -> FetchedResultsController?
  {
    guard let known = queries[query] else {
      open(query, command, wanted)
      return nil
    }
    known.idleSince = nil
    if known.isCurrent || isFresh(known, wanted) { return known }
    known.blocked.append((command, commit))
    hurry(known)
    return nil
  }

  /// Whether what a query shows, older than the tick's state, was read after the command was given that is performed now.
  func isFresh(_ query: FetchedResultsController, _ wanted: WantedContents?) -> Bool {
    guard query === resumed else { return false }
    return query.canReadContents || query.reads.contains { $0.wanted == wanted && $0.contents != nil }
  }

  func open(_ query: Query, _ command: FollowerCommand, _ wanted: WantedContents?) {
    if let opening = openings[query] {
      opening.waiting.append((command, commit))
      return
    }
    let opening = Opening(query)
    opening.waiting.append((command, commit))
    openings[query] = opening
    post(opening, for: command.requester, wanted)
  }

  func post(_ opening: Opening, for requester: Requester, _ wanted: WantedContents?) {
    let shape = shapes[opening.query.withoutValues]
    let request = RunRequest(
      query: opening.query, compiled: shape?.compiled, wanted: wanted, settings: settings(of: opening.query),
      timeout: timeout(of: opening.query))
    let id = post(requester, { .opened($0) }) { database, interruption throws(FreshetError) in
      try database.run(request, interruption)
    }
    opening.id = id
    opening.asked = commit
    openingsByJob[id] = opening
  }

  /// Has a reader do something.
  ///
  /// - Parameter tellsState: whether the next tick is to go through the state that the reader sees.
  /// - Returns: the job's number.
  func post<Value: Sendable>(
    _ requester: Requester, tellsState: Bool = false,
    _ outcome: @escaping @Sendable (Result<Value, FreshetError>) -> ReaderReport.Outcome,
    _ body: @escaping @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Value
  ) -> UInt64 {
    let id = readers.newID()
    let mailbox = thread
    let report = { @Sendable (result: Result<Value, FreshetError>) in
      mailbox.post(.report(ReaderReport(id: id, outcome: outcome(result))))
    }
    readers.post(
      ReaderJob(id: id, requester: requester) { database, interruption throws(FreshetError) in
        if tellsState { mailbox.noteBegun(BegunRun(id: id, state: database.connection.place.state)) }
        report(.success(try body(database, interruption)))
      } failed: {
        report(.failure($0))
      })
    return id
  }

  func perform(_ report: ReaderReport) {
    switch report.outcome {
    case .opened(let result):
      if let opening = openingsByJob.removeValue(forKey: report.id) { opened(opening, result) }
    case .ran(let result):
      guard let query = runs.removeValue(forKey: report.id), case .running(let run) = query.phase, run.id == report.id
      else { return }
      ran(query, run, result)
    case .read(let result):
      guard let query = queriesByRead.removeValue(forKey: report.id),
        let read = query.reads.first(where: { $0.id == report.id })
      else { return }
      ended(read, of: query, result)
    case .recompiled(let result):
      if let shape = recompilations.removeValue(forKey: report.id) { recompiled.append((shape, result)) }
    case .checked(let result): checked(report.id, result)
    }
  }

  /// The database cannot be read: what a reader has made cannot be joined.
  func reject(_ report: ReaderReport, _ error: FreshetError) {
    switch report.outcome {
    case .opened: perform(ReaderReport(id: report.id, outcome: .opened(.failure(error))))
    case .ran: perform(ReaderReport(id: report.id, outcome: .ran(.failure(error))))
    case .read: perform(ReaderReport(id: report.id, outcome: .read(.failure(error))))
    case .recompiled: perform(ReaderReport(id: report.id, outcome: .recompiled(.failure(error))))
    case .checked: perform(ReaderReport(id: report.id, outcome: .checked(.failure(error))))
    }
  }

  /// The state that the tick sees.
  var place: StatePlace? { database?.connection.place }

}

// Queries that nobody followed.
extension Follower {
  func opened(_ opening: Opening, _ result: Result<RunResult, FreshetError>) {
    do throws(FreshetError) {
      let run = try result.get()
      guard let place, run.place.hasSameSchema(as: place) else {
        // Compiled for another schema than the one that is followed.
        return post(opening, for: opening.waiting.first?.command.requester ?? .server, run.contents?.wanted)
      }
      openings[opening.query] = nil
      let query = try follow(opening.query, run)
      if !run.place.isSame(as: place) {
        let shown = number(of: run.place, asked: opening.asked)
        query.phase = .stale(shown: shown, due: .distantPast)
        query.wasShown(at: shown)
        scheduleRun(of: query)
      }
      keep(run, of: query)
      query.blocked = opening.waiting
      resumeBlocked(query, asked: opening.asked)
      noteIdle(query)
    } catch {
      openings[opening.query] = nil
      for (command, _) in opening.waiting { reject(command, error, hasWaited: true) }
    }
  }

  func follow(_ query: Query, _ run: RunResult) throws(FreshetError) -> FetchedResultsController {
    let shape = try shape(of: query, run.compiled)
    defer { if shape.queries.isEmpty { forget(shape, query.withoutValues) } }
    if shape.compiled.slowness != run.compiled.slowness {
      throw FreshetError(.overloaded, "how the query is followed has just changed: try again")
    }
    let followed = FetchedResultsController(
      query, shape, settings(of: query), history: historyBudget, commits, names(of: query), fetched: run.fetched,
      duration: run.duration)
    queries[query] = followed
    if followed.isLarge { freedRows += followed.rowCount }
    scheduleRun(of: followed)
    return followed
  }

  /// Keeps the contents that came with a run until the end of the tick.
  func keep(_ run: RunResult, of query: FetchedResultsController) {
    guard let contents = run.contents else { return }
    let newest = query.result.newest
    queriesWithContents[ObjectIdentifier(query)] = query
    query.reads.append(
      PendingRead(
        id: 0, contents.wanted, of: newest, name: query.nameNewest(), commit: query.shown.commit,
        contents: contents.rows, within: readers.contents))
  }

  /// Performs what waited for a query.
  func resume(_ query: FetchedResultsController, _ body: () -> Void) {
    let before = resumed
    resumed = query
    defer { resumed = before }
    body()
  }

  /// A client that waited for a query has left, or wants another one: what readers do for it alone is given up.
  func cancelIfUnwanted(_ query: Query) {
    if let known = queries[query] {
      known.blocked.removeAll { !isWanted($0.command) }
      return noteIdle(known)
    }
    guard let opening = openings[query], !opening.waiting.contains(where: { isWanted($0.command) }) else { return }
    readers.cancel(opening.id)
    openingsByJob[opening.id] = nil
    openings[query] = nil
  }

  func isWanted(_ command: FollowerCommand) -> Bool {
    switch command {
    case .subscribe(let command): early[command.key.session]?[command.key.number] != nil
    case .resume(let key): sessions[key.session]?[key.number] != nil
    default: true
    }
  }
}

extension FetchedResultsController {
  /// Somebody who waits for it: whose share of the readers it takes.
  var requester: Requester {
    subscriptions.first.map { .session($0.key.session) } ?? blocked.first?.command.requester ?? .server
  }
}

extension FollowerCommand {
  var requester: Requester {
    switch self {
    case .subscribe(let command): .session(command.key.session)
    case .request(let key, _, _), .unsubscribe(let key), .end(let key, _), .resume(let key): .session(key.session)
    case .snapshot(let request): request.requester
    default: .server
    }
  }

  /// Whether it is the request for a snapshot with an id.
  func isSnapshot(_ id: UInt64) -> Bool { if case .snapshot(let request) = self { request.id == id } else { false } }

  /// Whether it is the request with an id, for a snapshot or an explanation.
  func isRequest(_ id: UInt64) -> Bool {
    if case .explain(_, let request, _) = self { return request == id }
    return isSnapshot(id)
  }
}

extension FollowerCommand.SnapshotRequest {
  var requester: Requester { id.map { .request($0) } ?? .server }
}
