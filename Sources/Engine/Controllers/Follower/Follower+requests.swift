import ChangeCapture
import LiveQuery
import QueryCompiler
import RankedCollections
import Store

// What is asked without a subscription.
extension Follower {
  func answer(_ request: FollowerCommand.SnapshotRequest) {
    guard let query = ready(request.query, for: .snapshot(request), WantedContents(window: request.window)) else {
      return
    }
    defer { noteIdle(query) }
    let newest = query.result.newest
    guard let version = request.unless.first(where: { query.version(named: $0) === newest }) else {
      return reply(request, query)
    }
    if request.wait > .zero { return wait(request, query, version) }
    request.reply(.success(.unchanged(version: version)))
  }

  private func reply(_ request: FollowerCommand.SnapshotRequest, _ query: FetchedResultsController) {
    let wanted = WantedContents(window: request.window)
    statistics.snapshots += 1
    if let read = query.reads.first(where: { $0.wanted == wanted }), let contents = read.contents {
      if read.version === query.result.newest { query.newestWasSent(clock.now) }
      return request.reply(contents.map { .snapshot(read.snapshot(of: query, $0)) })
    }
    if wanted.range(total: query.result.newest.tree.count).count > Self.rowsReadHere,
      let read = read(wanted, of: query, for: request.requester)
    {
      read.requests.append(request)
      query.newestWasSent(clock.now)
      return
    }
    do throws(FreshetError) {
      let snapshot = try snapshot(query, window: request.window)
      query.newestWasSent(clock.now)
      request.reply(.success(.snapshot(snapshot)))
    } catch { refuse(request, of: query, error) }
  }

  /// A snapshot could not be made. Of a list that is wrong it is made when that has been read anew.
  func refuse(_ request: FollowerCommand.SnapshotRequest, of query: FetchedResultsController, _ error: FreshetError) {
    guard mendIfMissing(query, error) else { return request.reply(.failure(error)) }
    query.blocked.append((.snapshot(request), commit))
    query.idleSince = nil
  }

  /// - Parameter version: what the client calls the newest version.
  private func wait(
    _ request: FollowerCommand.SnapshotRequest, _ query: FetchedResultsController, _ version: String
  ) {
    let deadline = clock.now + request.wait
    query.waiters.append(
      WaitingRequest(
        request: request, deadline: deadline, held: query.result.newest, version: version))
    query.idleSince = nil
    deadlines.wake(query, at: deadline)
  }

  /// Answers those who wait for another version, or have waited long enough.
  func answerWaiters(_ query: FetchedResultsController) {
    if query.waiters.isEmpty { return }
    let now = clock.now
    let waiters = query.waiters
    query.waiters = []
    for waiter in waiters {
      if waiter.held !== query.result.newest {
        reply(waiter.request, query)
      } else if waiter.deadline <= now {
        waiter.request.reply(.success(.unchanged(version: waiter.version)))
      } else {
        query.waiters.append(waiter)
        deadlines.wake(query, at: waiter.deadline)
      }
    }
    noteIdle(query)
  }

  /// The client has left. Wherever its request is, it is forgotten, and readers give up what they do for it alone.
  func abandon(_ request: UInt64, of query: Query) {
    readers.cancel(of: .question(request))
    let isAbandoned = { (waiting: (command: FollowerCommand, commit: Int64)) in waiting.command.isSnapshot(request) }
    if let opening = openings[query] {
      opening.waiting.removeAll(where: isAbandoned)
      cancelIfUnwanted(query)
    }
    guard let query = queries[query], !query.isIdle else { return }
    query.waiters.removeAll { $0.request.id == request }
    query.blocked.removeAll(where: isAbandoned)
    for read in query.reads { read.requests.removeAll { $0.id == request } }
    cancelUnwantedReads(of: query)
    noteIdle(query)
  }

  /// - Parameter request: what `abandon` calls it; nil for one that is never abandoned.
  func explain(
    _ query: Query, _ request: UInt64?, _ reply: @escaping @Sendable (Result<Explanation, FreshetError>) -> Void
  ) {
    guard let database else { return reply(.failure(unavailability)) }
    let forms = forms(database)
    let slowness = shapes[query.withoutValues]?.compiled.slowness
    let timeout = timeout(of: query)
    readers.post(
      ReaderJob(id: readers.newID(), requester: .of(question: request)) { database, interruption throws(FreshetError) in
        reply(
          .success(
            try database.explain(query, slowness: slowness, forms: forms, timeout: timeout, interruption)))
      } failed: {
        reply(.failure($0))
      })
  }

  /// Opens a query that is never let go. One that reads claims is everybody's own, and is not.
  func keep(_ query: Query) {
    guard query.access.read.isEmpty else { return }
    kept.insert(query)
    answer(.init(query: query, window: Window(offset: 0, limit: 0)) { _ in })
  }

  /// The tables that there are for somebody.
  func list(
    _ access: Query.Access, _ request: UInt64?,
    _ reply: @escaping @Sendable (Result<[DatabaseTable], FreshetError>) -> Void
  ) {
    if access.role == nil { return reply(.success(database?.schema.listing ?? [])) }
    // Which columns a view has for a role is compiled.
    readers.post(
      ReaderJob(id: readers.newID(), requester: .of(question: request)) { database, _ throws(FreshetError) in
        reply(.success(try database.listing(for: access)))
      } failed: {
        reply(.failure($0))
      })
  }

  /// How changes of tables are found at the moment, by lower-case name.
  private func forms(_ database: OpenDatabase) -> [String: CaptureForm] {
    let capture = database.connection.capture
    // Who has just subscribed asks: small tables are read by then.
    if capture.readOn() { mustTick = true }
    var forms: [String: CaptureForm] = [:]
    for table in database.schema.tables {
      guard let storage = table.storage else { continue }
      forms[table.name.lowercased()] = capture.form(ofTable: storage.table.name)
    }
    return forms
  }

  /// Describes no more than are shown: lists that have to be sent wait meanwhile.
  var openLists: OpenLists {
    let sorted = queries.values.sorted { $0.subscriptions.count > $1.subscriptions.count }
    return OpenLists(
      mostShared: sorted.prefix(OpenLists.shown).map(\.description), count: queries.count,
      subscriptions: sorted.reduce(0) { $0 + $1.subscriptions.count })
  }

  var currentStatistics: FollowerStatistics {
    var result = statistics
    if let capture = database?.connection.capture { result.capture = capture.statistics }
    result.controllers = queries.count
    result.subscriptions = sessions.values.reduce(0) { $0 + $1.count }
    result.versions = queries.values.reduce(0) { $0 + $1.versionCount }
    return result
  }
}
