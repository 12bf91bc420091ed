import CFreshetSystem
import ChangeCapture
import Following
import Ground
package import LiveQuery
import QueryCompiler
package import Requests
import Store

// Changes of the schema and of the file. Lists whose own tables did not change continue. The others keep what they show
// until readers have compiled their queries again, once per shape, and have run them.
extension Lists {
  /// - Parameter isSameFile: whether the former schema belonged to this file.
  func schemaChanged(to schema: DatabaseSchema, isSameFile: Bool) {
    guard let database else { return }
    let former = database.schema
    database.schema = schema
    let outdated = evaluation.schemaChanged(
      from: former, to: schema, isSameFile: isSameFile, database.connection.capture)
    for list in outdated.flatMap({ $0.lists.values }) { outdate(list, numbers.commits.before) }
    for list in byQuery.values where list.shape.isOutdated && mayRun(list) { recompile(list.shape) }
  }

  /// Called when the connection is about to be closed or replaced by another file's.
  package func connectionCloses() {
    let outdated = evaluation.connectionCloses()
    for list in outdated.flatMap({ $0.lists.values }) { outdate(list, numbers.commits.number) }
    for list in byQuery.values { list.shape.close() }
    ages.removeAll()
    earlier = nil
    evaluation.keptTables = []
    database = nil
  }

  /// Stops following a list, which keeps what it shows until it can be run again.
  ///
  /// - Parameter before: the number of the state that the list shows.
  func outdate(_ list: LiveList, _ before: CommitNumber, due: Instant = .distantFuture) {
    let shown = list.versions.shown(unlessFollowedFrom: before)
    if let id = list.advance({ $0.outdated(shown: shown, due: due) }) { jobs.cancel(id) }
    cancelReads(of: list)
  }

  /// Turns requests for contents that are being read into requests for a run: readers may not be able to read these
  /// contents any more.
  private func cancelReads(of list: LiveList) {
    let reads = list.reads.filter { $0.contents == nil }
    if reads.isEmpty { return }
    list.reads.removeAll { $0.contents == nil }
    for read in reads { jobs.cancel(read.id) }
    note(.readsCancelled(list, reads))
  }

  // MARK: - Compiling

  /// Posts the compilation of an outdated shape's queries to a reader, unless one is in progress.
  func recompile(_ shape: QueryShape) {
    guard shape.recompilation == nil, let first = shape.lists.values.first else { return }
    let query = first.query
    shape.recompilation = jobs.post(.recompile(shape), for: requester(of: first), { .recompiled($0) }) {
      database, _ throws(FreshetError) in try database.recompile(query)
    }
  }

  /// Has the query compiled again. Its lists keep their rows until then.
  func recompileAsOutdated(_ shape: QueryShape, _ before: CommitNumber) {
    evaluation.outdate(shape)
    for list in shape.lists.values { outdate(list, before) }
    recompile(shape)
  }

  func cancelRecompilation(of shape: QueryShape) {
    guard let job = shape.recompilation, !shape.lists.values.contains(where: mayRun) else { return }
    jobs.cancel(job)
    shape.recompilation = nil
  }

  /// Called when a reader has compiled a shape's queries. Prepares the statements on this connection.
  package func recompiled(_ outdated: QueryShape, _ result: Result<Recompilation, FreshetError>) {
    outdated.recompilation = nil
    let lists = Array(outdated.lists.values)
    guard let first = lists.first, let database else { return }
    do throws(FreshetError) {
      let result = try result.get()
      // The schema may have changed again.
      guard let place, result.place.hasSameSchema(as: place) else { return recompile(outdated) }
      let shape = try evaluation.shape(of: first.query, try result.compiled.get(), database)
      for list in lists { adopt(shape, list) }
      evaluation.forget(outdated, of: first.query, capture)
    } catch  where !error.isFinal {
      for list in lists { fail(list, error, list.shown) }
    } catch  where error.code == .schemaChanged {
      for list in lists { end(list, error) }
    } catch {
      for list in lists {
        let isFirst = list.advance { $0.doesNotCompile() }
        note(.doesNotCompile(list, error, isFirst: isFirst))
      }
    }
  }

  private func adopt(_ shape: QueryShape, _ list: LiveList) {
    let hasSameColumns = exchangeStatements(of: list, shape)
    let mustStartOver = !hasSameColumns || list.machine.awaitsSchema
    list.advance { [shown = list.shown] in $0.recompiled(shown: shown) }
    if mustStartOver { note(.startsOver(list)) }
    run(list)
  }

  /// Gives a list the statements of another shape of its query. The query must be run next.
  ///
  /// - Returns: whether its columns are the same as before.
  func exchangeStatements(of list: LiveList, _ shape: QueryShape) -> Bool {
    let isSame = list.adopt(BoundStatements(list.query, shape, context.settings(of: list.query)))
    releaseScalars(of: list)
    holdScalars(of: list)
    return isSame
  }

  // MARK: - Lists without clients

  // Lists without clients are followed for a while, so that reconnecting clients resume where they were. Their memory
  // is limited, and readers do no work for them.

  /// Called when the last client may have left a list.
  package func noteIdle(_ list: LiveList) {
    guard !isUsed(list), !isKept(list) else { return }
    cancelRun(of: list)
    cancelRecompilation(of: list.shape)
    let now = context.clock.now
    guard list.advance({ $0.lostLastClient(now: now) }) else { return }
    context.deadlines.wake(list, at: now + min(context.intervals.linger, Self.shortLinger))
  }

  /// How long each list lingers, regardless of their number.
  private static let shortLinger = Nanoseconds.milliseconds(5_000)
  /// The most memory of lists that linger longer, in bytes. The list that lost its clients last may take any amount.
  private static let lingeringBytes = 4 << 20

  /// - Returns: whether the list had no clients for long enough and was released.
  func letGoIfIdle(_ list: LiveList, _ now: Instant) -> Bool {
    // The list was released just now, together with others.
    if byQuery[list.query] !== list { return true }
    guard !isUsed(list), let since = list.machine.idleSince else { return false }
    let linger = context.intervals.linger
    if since + linger <= now {
      forget(list)
      return true
    }
    if since + Self.shortLinger <= now { letGoCrowd(now) }
    if byQuery[list.query] !== list { return true }
    context.deadlines.wake(list, at: since + (since + Self.shortLinger <= now ? linger : Self.shortLinger))
    return false
  }

  /// Releases lingering lists beyond the memory bound, the longest idle first. O(lists × log lists).
  private func letGoCrowd(_ now: Instant) {
    let idle = byQuery.values.compactMap { list in list.machine.idleSince.map { (list, since: $0) } }
      .filter { !isUsed($0.0) }
      .sorted { $0.since > $1.since }
    var bytes = 0
    for (place, (list, since)) in idle.enumerated() {
      bytes += list.heldBytes
      if place > 0, bytes > Self.lingeringBytes, since + Self.shortLinger <= now { forget(list) }
    }
  }

  // MARK: - Memory

  /// Returns memory to the system after a large result was built or freed, or many small ones were freed.
  ///
  /// Building a result takes as much memory again as the result itself. The allocator keeps this memory, because its
  /// thresholds for returning memory grow with the largest block ever freed. SQLite's cache keeps the last pages of a
  /// scan, which are the least likely to be read next.
  package func returnFreeMemory() {
    guard context.freedRows >= ReaderSettings.largeFrom else { return }
    context.freedRows = 0
    database?.connection.releasePages()
    context.readers.returnFreeMemory()
  }
}

extension ReaderPool {
  /// Posts the return of free memory to a reader, because it takes milliseconds.
  fileprivate func returnFreeMemory() {
    post(
      ReaderJob(id: newID(), requester: .server) { _, _ in
        system_return_free_memory()
      } failed: { _ in
        system_return_free_memory()
      })
  }
}

extension LiveList {
  /// The approximate memory of a list's statements, expressed as a number of rows.
  static let rowsWorthOfStatements = 1_000
  /// An estimate of what a list takes, in bytes.
  fileprivate var heldBytes: Int { (rowCount + Self.rowsWorthOfStatements) * (compiled.isRefetched ? 200 : 90) }
  /// Whether building or freeing the list frees so much memory that returning it is worthwhile.
  var isLarge: Bool { rowCount >= ReaderSettings.largeFrom }
}
