import Controllers
import Gateway
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
    var request = FollowerCommand.SnapshotRequest(query: query, window: parameters.window) {
      [snapshotRequests] result in
      defer { withExtendedLifetime(ticket) {} }
      snapshotRequests.remove(exchange.id)
      exchange.answer(HTTPAnswer(result, parameters, known))
    }
    request.id = exchange.id.rawValue
    request.unless = known.versions
    if !known.versions.isEmpty { request.wait = parameters.wait }
    let follower = database.pool.follower(for: query)
    snapshotRequests.add(.init(exchange: exchange, follower: follower, waits: request.wait > .zero))
    follower.post(.snapshot(request))
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
    guard let channel = exchange.openStream() else { return }
    let follower = database.pool.follower(for: query)
    guard let key = clients.admit(exchange, channel, id: SessionOutput.streamSubscription, host: follower) else {
      return
    }
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
      if let format = parameters.table {
        let headers = [("Content-Type", format.contentType), parameters.attachment(format)]
        self.init(
          status: 200, headers: headers + HTTPAnswer.versionHeaders(snapshot.version), body: snapshot.table(format))
        return
      }
      let message = ServerMessage.snapshot(snapshot)
      var writer = JSONWriter(reserving: message.likelyLength)
      message.write(to: &writer, id: nil, parameters.shape)
      self = .json(writer.bytes, headers: HTTPAnswer.versionHeaders(snapshot.version))
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
    let isName = !asked.isEmpty && asked.utf8.count <= 64 && asked.utf8.allSatisfy(Self.isPlain)
    return ("Content-Disposition", "attachment; filename=\"\(isName ? asked : "list").\(format.rawValue)\"")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
