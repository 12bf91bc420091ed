import Controllers
import Gateway
import Ground
import LiveQuery
import Requests
import Wire

// Snapshots and streams of results.
extension Routes {
  func getSnapshot(
    _ exchange: HTTPExchange, _ purpose: RequestParameters.Purpose, _ database: ServedDatabase, _ clients: Clients
  ) throws(FreshetError) {
    // Here, and not as a wrong parameter, because it is the path that is wrong.
    if case .published(let name) = purpose, exchange.identity.sealed == nil {
      _ = try database.doors.queries.find(name, orThrow: .notFound)
    }
    try snapshot(try RequestParameters(QueryString(exchange.request.query), for: purpose), exchange, database, clients)
  }

  func postSnapshot(
    _ exchange: HTTPExchange, _ database: ServedDatabase, _ clients: Clients
  ) throws(FreshetError) {
    try snapshot(try RequestParameters(body: exchange.request.body), exchange, database, clients)
  }

  private func snapshot(
    _ parameters: RequestParameters, _ exchange: HTTPExchange, _ database: ServedDatabase, _ clients: Clients
  ) throws(FreshetError) {
    exchange.record?.note(database.doors.subject(of: parameters.source))
    try database.output.checkRoom()
    let query = try database.doors.query(parameters.source, for: exchange.identity)
    let ticket = try clients.ticket(exchange.identity)
    let known = EntityTags(exchange.request.ifNoneMatch)
    let follower = database.pool.follower(for: query)
    var request = FollowerCommand.SnapshotRequest(query: query, window: parameters.window) {
      [snapshotRequests] result in
      defer { withExtendedLifetime(ticket) {} }
      snapshotRequests.remove(exchange.id)
      if case .success(.tooLong) = result, let format = parameters.table {
        return clients.post { [self] in sendTable(format, parameters, query, exchange, follower, clients) }
      }
      exchange.answer(HTTPAnswer(result, parameters, known))
    }
    request.id = exchange.id.rawValue
    request.unless = known.versions
    if !known.versions.isEmpty { request.wait = parameters.wait }
    if parameters.table != nil { request.mostRows = Self.mostRowsOfWholeTable }
    snapshotRequests.add(.init(exchange: exchange, follower: follower, waits: request.wait > .zero))
    follower.post(.snapshot(request))
  }

  /// The rows of a longer table are sent as the client takes them.
  private static let mostRowsOfWholeTable = 10_000

  /// Answers with a table in parts. On the service thread.
  private func sendTable(
    _ format: TableFormat, _ parameters: RequestParameters, _ query: Query, _ exchange: HTTPExchange,
    _ follower: FollowerThread, _ clients: Clients
  ) {
    let head = [parameters.attachment(format)]
    guard let key = clients.admit(exchange, as: .table(format), head: head, host: follower) else { return }
    follower.post(
      .subscribe(
        .init(
          key: key, query: query, window: parameters.window, since: nil, minInterval: .zero, shape: .arrays)))
  }

  func getSubscription(
    _ exchange: HTTPExchange, _ database: ServedDatabase, _ clients: Clients
  ) throws(FreshetError) {
    var parameters = try RequestParameters(QueryString(exchange.request.query), for: .subscription)
    exchange.record?.note(database.doors.subject(of: parameters.source))
    let query = try database.doors.query(parameters.source, for: exchange.identity)
    // A browser repeats the URL, whose window is the client's of now only where windows stay: at the start.
    if parameters.since == nil, parameters.window.offset == 0, exchange.request.lastEventID?.isEmpty == false {
      parameters.since = exchange.request.lastEventID
    }
    try database.output.checkRoom()
    let follower = database.pool.follower(for: query)
    guard let key = clients.admit(exchange, as: .events, host: follower) else { return }
    follower.post(
      .subscribe(
        .init(
          key: key, query: query, window: parameters.window, since: parameters.since,
          minInterval: parameters.minInterval, shape: parameters.shape)))
  }
}

extension HTTPAnswer {
  fileprivate init(
    _ result: Result<SnapshotAnswer, FreshetError>, _ parameters: RequestParameters, _ known: EntityTags
  ) {
    switch result {
    case .failure(let error): self = .problem(error)
    case .success(.unchanged(let version)): self = .unchanged(version)
    case .success(.snapshot(let snapshot)) where known.contains(snapshot.version): self = .unchanged(snapshot.version)
    case .success(.snapshot(let snapshot)):
      let message = ServerMessage.snapshot(snapshot)
      let version = HTTPAnswer.versionHeaders(snapshot.version)
      var writer = JSONWriter(reserving: message.likelyLength)
      if let format = parameters.table {
        message.writeTable(format, to: &writer)
        let headers = [("Content-Type", format.contentType), parameters.attachment(format)]
        self.init(status: 200, headers: headers + version, body: writer.bytes)
      } else {
        message.write(to: &writer, id: nil, parameters.shape)
        self = .json(writer.bytes, headers: version)
      }
    // Tables alone have a bound.
    case .success(.tooLong): self = .problem(.internal, "a snapshot without its rows")
    }
  }

  private static func unchanged(_ version: String) -> HTTPAnswer {
    HTTPAnswer(status: 304, headers: versionHeaders(version), body: [])
  }

  private static func versionHeaders(_ version: String) -> [(name: String, value: String)] {
    [("ETag", "\"\(version)\""), ("Cache-Control", "no-cache")]
  }
}

extension RequestParameters {
  /// The file name for a browser that saves the answer: after the table or the published query.
  fileprivate func attachment(_ format: TableFormat) -> (name: String, value: String) {
    let asked =
      switch source {
      case .adHoc(let query): query.from
      case .published(let name, _): name
      }
    let isName = !asked.isEmpty && asked.utf8.count <= 64 && asked.utf8.allSatisfy(\.isNameByte)
    return ("Content-Disposition", "attachment; filename=\"\(isName ? asked : "list").\(format.rawValue)\"")
  }
}
