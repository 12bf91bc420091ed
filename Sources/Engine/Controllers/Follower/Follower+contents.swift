import ChangeCapture
import LiveQuery
import QueryCompiler
import RankedCollections
import Store

// Contents of many rows.
extension Follower {
  #if DEBUG
    /// Contents of more rows are read by readers. Few in debug builds, so that every test has some.
    static let rowsReadHere = 12
  #else
    /// Contents of more rows are read by readers.
    static let rowsReadHere = 1_000
  #endif

  /// Has a reader read contents of a query's newest version, unless one does so already.
  func read(_ wanted: WantedContents, of query: FetchedResultsController, for requester: Requester) -> PendingRead? {
    let newest = query.result.newest
    if let pending = query.reads.first(where: { $0.wanted == wanted && $0.version === newest && $0.contents == nil }) {
      return pending
    }
    guard let place else { return nil }
    let request = ReadRequest(run: runRequest(query, wanted), wanted: wanted, tree: newest.tree, place: place)
    let id = post(requester, { .read($0) }) { database, interruption throws(FreshetError) in
      try database.read(request, interruption)
    }
    let read = PendingRead(
      id: id, wanted, of: newest, name: query.nameNewest(), commit: query.shown.commit, within: readers.contents)
    query.reads.append(read)
    query.idleSince = nil
    queriesByRead[id] = query
    return read
  }

  func ended(_ read: PendingRead, of query: FetchedResultsController, _ result: Result<ReadResult, FreshetError>) {
    var hasMoved = false
    switch result {
    case .failure(let error): read.end(.failure(error))
    case .success(.contents(let rows)): read.end(.success(rows))
    case .success(.moved(let run)):
      hasMoved = true
      let version = ResultVersion(
        number: read.version.number, tree: run.fetched.editor.tree.prefix(query.compiled.limit ?? .max),
        alongside: run.fetched.alongside)
      let number = number(of: run.place, asked: read.commit)
      read.end(
        at: version, name: query.newSideName(of: version, at: number), commit: number.commit,
        run.contents?.rows ?? PackedRows(columnCount: query.compiled.columns.count))
    }
    queriesWithContents[ObjectIdentifier(query)] = query
    for request in read.requests {
      switch contents(of: read) {
      case .success(let rows): request.reply(.success(.snapshot(read.snapshot(of: query, rows))))
      case .failure(let error): refuse(request, of: query, error)
      }
    }
    if case .failure(let error) = result { mendIfMissing(query, error) }
    for subscription in read.subscriptions { answer(subscription, read, hasMoved: hasMoved) }
  }

  private func contents(of read: PendingRead) -> Result<PackedRows, FreshetError> {
    read.contents ?? .failure(FreshetError(.internal, "contents that were not read"))
  }

  /// Gives up reading contents that nobody waits for any more.
  func cancelUnwantedReads(of query: FetchedResultsController) {
    query.reads.removeAll { read in
      guard read.contents == nil, !isWanted(read, of: query) else { return false }
      readers.cancel(read.id)
      queriesByRead[read.id] = nil
      return true
    }
  }

  private func isWanted(_ read: PendingRead, of query: FetchedResultsController) -> Bool {
    if !read.requests.isEmpty || read.subscriptions.contains(where: { $0.state.isReading(read) }) { return true }
    return snapshots.contains { group, subscriptions in
      group.query == ObjectIdentifier(query) && group.window == read.wanted.window && !subscriptions.isEmpty
    }
  }

  /// Contents that nobody waits for any more are let go.
  func dropContents(of query: FetchedResultsController) {
    query.reads.removeAll { $0.contents != nil }
    noteIdle(query)
  }
}
