import ChangeCapture
import Following
import Ground
package import Lists
package import LiveQuery
import QueryCompiler
import RankedCollections
package import Requests
import Store

/// Makes snapshots, and answers clients that request one without subscribing.
///
/// Owner: the follower's thread.
package final class SnapshotAnswers {
  private let lists: Lists
  private let checks: ListChecks
  private let context: FollowerContext
  private var recent = RecentSnapshots()

  package init(_ lists: Lists, _ checks: ListChecks) {
    self.lists = lists
    self.checks = checks
    context = lists.context
  }

  #if DEBUG
    /// The most rows whose contents the follower reads itself. Small in debug builds, so that every test has readers
    /// read some.
    static let rowsReadHere = 12
  #else
    /// The most rows whose contents the follower reads itself. Readers read larger contents.
    static let rowsReadHere = 1_000
  #endif

  /// Reads all rows of the snapshot at once.
  func snapshot(_ list: LiveList, window: Window?) throws(FreshetError) -> Snapshot {
    let newest = list.result.newest
    let (version, commit) = (list.nameNewest(), list.shown.commit)
    if let recent = recent.find(version: version, commit: commit, window: window) { return recent }
    let wanted = WantedContents(window: window)
    let rows = try list.contents(wanted.range(total: newest.tree.count))
    let sections = recent.sections(of: newest) ?? newest.sections
    let snapshot = list.snapshot(of: newest, name: version, commit: commit, sections: sections, wanted, rows)
    recent.add(snapshot, of: newest)
    return snapshot
  }

  // MARK: - Requests

  package func answer(_ request: FollowerCommand.SnapshotRequest) {
    switch lists.find(request.query, WantedContents(window: request.window), for: request.requester) {
    case .ready(let list): answer(request, list)
    case .waits(let id): wait(request, id, askedAt: lists.ticks)
    }
  }

  private func wait(_ request: FollowerCommand.SnapshotRequest, _ id: Int, askedAt ticks: Int) {
    lists.requests.add(.snapshot(request, held: nil), of: request.client, for: id, .list(asked: ticks))
  }

  /// Answers a request with what a list shows.
  func answer(_ request: FollowerCommand.SnapshotRequest, _ list: LiveList) {
    defer { lists.noteIdle(list) }
    let newest = list.result.newest
    guard let name = request.unless.first(where: { list.version(named: $0) === newest }) else {
      return reply(request, list)
    }
    if request.wait == .zero { return request.reply(.success(.unchanged(version: name))) }
    let deadline = context.clock.now + request.wait
    lists.requests.add(
      .snapshot(request, held: (newest, name)), of: request.client, for: list.id, .change(deadline: deadline))
    context.deadlines.wake(list, at: deadline)
  }

  private func reply(_ request: FollowerCommand.SnapshotRequest, _ list: LiveList) {
    let wanted = WantedContents(window: request.window)
    let count = wanted.range(total: list.result.newest.tree.count).count
    if count > request.mostRows { return request.reply(.success(.tooLong)) }
    context.statistics.snapshots += 1
    if let read = list.reads.first(where: { $0.wanted == wanted }), let contents = read.contents {
      if read.version === list.result.newest { list.newestWasSent() }
      return request.reply(contents.map { .snapshot(read.snapshot(of: list, $0)) })
    }
    if count > Self.rowsReadHere, let read = lists.read(wanted, of: list, for: request.requester) {
      lists.requests.add(
        .snapshot(request, held: nil), of: request.client, for: list.id, .contents(job: read.id))
      return list.newestWasSent()
    }
    do throws(FreshetError) {
      let snapshot = try snapshot(list, window: request.window)
      list.newestWasSent()
      request.reply(.success(.snapshot(snapshot)))
    } catch { refuse(request, list, error) }
  }

  /// Called when a reader has read, or could not read, the contents that a request waits for.
  func answer(_ request: FollowerCommand.SnapshotRequest, _ list: LiveList, _ read: PendingRead) {
    switch read.contents ?? .failure(FreshetError(.internal, "contents that were not read")) {
    case .success(let rows): request.reply(.success(.snapshot(read.snapshot(of: list, rows))))
    case .failure(let error): refuse(request, list, error)
    }
  }

  /// Called when a snapshot could not be made. If the list was found wrong, the request waits until the list is read
  /// again.
  private func refuse(_ request: FollowerCommand.SnapshotRequest, _ list: LiveList, _ error: FreshetError) {
    guard checks.mendIfMissing(list, error) else { return request.reply(.failure(error)) }
    wait(request, list.id, askedAt: lists.ticks)
  }

  /// Answers requests that wait for another version, when there is one or their deadline has passed.
  func answerChanges(_ list: LiveList) {
    guard lists.requests.concerns(list.id) else { return }
    let now = context.clock.now
    let newest = list.result.newest
    let due = lists.requests.take(for: list.id) { entry in
      guard let deadline = entry.state.deadline, case .snapshot(_, let held?) = entry.subject else { return false }
      return held.version !== newest || deadline <= now
    }
    for entry in due {
      guard case .snapshot(let request, let held?) = entry.subject else { continue }
      if held.version !== newest {
        reply(request, list)
      } else {
        request.reply(.success(.unchanged(version: held.name)))
      }
    }
    for deadline in lists.requests.waiting(for: list.id).compactMap(\.state.deadline) {
      context.deadlines.wake(list, at: deadline)
    }
    if !due.isEmpty { lists.noteIdle(list) }
  }

  /// Called when the client has left. Readers stop the work that they do only for this client.
  package func abandon(_ request: UInt64) {
    context.readers.cancel(of: .question(request))
    guard let entry = lists.requests.remove(.request(request)),
      case .snapshot(let command, _) = entry.subject
    else { return }
    if let list = lists.byQuery[command.query], list.id == entry.list { lists.cancelUnwantedReads(of: list) }
    lists.wasLeft(entry.list, command.query)
  }

  /// Opens a query whose list is never released, unless it reads claims, because such a list belongs to one client.
  package func keep(_ query: Query) {
    guard query.access.read.isEmpty else { return }
    lists.keep(query)
    if case .waits(let id) = lists.find(query, nil, for: .server) {
      lists.requests.add(.keep, of: nil, for: id, .list(asked: lists.ticks))
    }
  }

  // MARK: - Questions

  /// - Parameter request: the id for `abandon`; nil if the request is never abandoned.
  package func explain(
    _ query: Query, _ request: UInt64?, _ reply: @escaping @Sendable (Result<Explanation, FreshetError>) -> Void
  ) {
    guard let database = lists.database else { return reply(.failure(lists.unavailability)) }
    let forms = forms(database)
    let slowness = lists.evaluation.shapes[query.withoutValues]?.compiled.slowness
    let timeout = context.timeout(of: query)
    let list = lists.byQuery[query]
    let (open, isOtherwise) = (list?.explanation, list.map { $0.compiled.otherwise == nil } ?? false)
    post(request, reply) { database, interruption throws(FreshetError) in
      var explanation = try database.explain(
        query, slowness: slowness, followedOtherwise: isOtherwise, forms: forms, timeout: timeout, interruption)
      explanation.list = open
      return explanation
    }
  }

  /// Lists the tables that a role may read.
  package func list(
    _ access: Query.Access, _ request: UInt64?,
    _ reply: @escaping @Sendable (Result<[DatabaseTable], FreshetError>) -> Void
  ) {
    if access.role == nil { return reply(.success(lists.database?.schema.listing ?? [])) }
    // To find the columns of views that a role may read, they must be compiled.
    post(request, reply) { database, _ throws(FreshetError) in try database.listing(for: access) }
  }

  private func post<Answer>(
    _ request: UInt64?, _ reply: @escaping @Sendable (Result<Answer, FreshetError>) -> Void,
    _ body: @escaping @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Answer
  ) {
    let readers = context.readers
    readers.post(
      ReaderJob(id: readers.newID(), requester: .of(question: request)) { database, interruption throws(FreshetError) in
        reply(.success(try body(database, interruption)))
      } failed: {
        reply(.failure($0))
      })
  }

  /// How capture finds changes of each table at present, by lower-case name.
  private func forms(_ database: OpenDatabase) -> [String: CaptureForm] {
    let capture = database.connection.capture
    // Clients often request this just after subscribing, so more pages are read first; small tables are read whole
    // then.
    if capture.readOn() { context.mustTick = true }
    var forms: [String: CaptureForm] = [:]
    for table in database.schema.tables {
      guard let storage = table.storage else { continue }
      forms[table.name.lowercased()] = capture.form(ofTable: storage.table.name)
    }
    return forms
  }
}
