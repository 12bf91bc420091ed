import Controllers
import Following
import Foundation
import Gateway
import LiveQuery
import Wire

/// Answers requests, each at its route: protocol 4.
///
/// Any thread, unless a method names one.
final class Routes: Sendable {
  let reports: ServerReports
  let databases: Databases
  let snapshotRequests = SnapshotRequests()
  private let door: FrontDoor
  private let clientFiles: ClientFiles

  init(_ reports: ServerReports, _ clientFiles: ClientFiles) {
    self.reports = reports
    self.clientFiles = clientFiles
    (databases, door) = (reports.databases, reports.door)
  }

  /// Answers a request whose token is refused; pages of other origins learn nothing of that.
  func refuse(_ exchange: HTTPExchange, _ error: FreshetError) {
    exchange.answer(refusalOfOrigin(exchange) ?? .problem(error))
  }

  private func refusalOfOrigin(_ exchange: HTTPExchange) -> HTTPAnswer? {
    door.refusal(of: exchange.request).map { .problem(.notAllowed, $0.message) }
  }

  /// Answers a request, now or later, exactly once. On the service thread of these clients.
  func answer(_ exchange: HTTPExchange, of clients: Clients) {
    if let refusal = refusalOfOrigin(exchange) { return exchange.answer(refusal) }
    let path = DatabasePath(exchange.request.path)
    let (routes, name) = Route.at(path.route)
    if routes.isEmpty, path.name != nil { return answerWithFile(path.route, exchange) }
    guard let first = routes.first, path.name == nil || first.isOfDatabase else {
      return exchange.answer(.problem(.notFound, "there is nothing at \(exchange.request.path)"))
    }
    // A browser's preflight (OPTIONS) carries no token, and asks whether it may send one.
    if exchange.request.method == "OPTIONS" { return exchange.answer(at: routes) { _ in } }
    guard first.isOfDatabase || databases.only != nil else {
      exchange.record?.identify(databases.access.actor(exchange.request.peer, exchange.identity))
      if let refusal = clients.refusal(of: exchange) { return exchange.answer(refusal) }
      return exchange.answer(at: routes) { route throws(FreshetError) in try answer(route, name, exchange) }
    }
    let lead: Lead
    do throws(FreshetError) { lead = try databases.lead(exchange.identity, to: path.name) } catch {
      return exchange.answer(.problem(error))
    }
    var led = exchange
    led.identity = lead.identity
    exchange.record?.identify(lead.doors.actor(exchange.request.peer, lead.identity, lead.name))
    if let refusal = clients.refusal(of: led) { return exchange.answer(refusal) }
    clients.use(lead.name) { [self, led] result in
      var exchange = led
      switch result {
      case .failure(let error): exchange.answer(.problem(error))
      case .success(let use):
        exchange.use = use
        exchange.answer(at: routes) { route throws(FreshetError) in
          try answer(route, name, exchange, use.database, clients)
        }
      }
    }
  }

  /// The same pages serve every database: their requests are relative to their own address.
  private func answerWithFile(_ path: String, _ exchange: HTTPExchange) {
    if path.isEmpty {
      let name = DatabasePath(exchange.request.path).name ?? ""
      let address = "\(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")/"
      return exchange.answer(HTTPAnswer(status: 308, headers: [("Location", address)], body: []))
    }
    exchange.gateway.answerWithFile(path, exchange.request, exchange.id)
  }

  /// Answers what is asked of the server.
  private func answer(_ route: Route, _ name: String, _ exchange: HTTPExchange) throws(FreshetError) {
    switch route {
    case .getDatabases: getDatabases(exchange)
    case .postDatabase: try postDatabase(exchange)
    case .deleteDatabase: try deleteDatabase(exchange)
    case .getClientFile: exchange.answer(clientFiles.answer(to: name, EntityTags(exchange.request.ifNoneMatch)))
    case .getHealth, .getReadiness, .getMetrics, .getMetricsHistory: reports.answer(route, exchange)
    case .getOpenAPI: exchange.answer(.json(PackageResources.openapi_json))
    case .getAsyncAPI: exchange.answer(.json(PackageResources.asyncapi_json))
    default: exchange.answer(.problem(.notFound, "there is nothing at \(exchange.request.path)"))
    }
  }

  /// - Parameter name: the part of the path that the braces of the route stand for.
  private func answer(
    _ route: Route, _ name: String, _ exchange: HTTPExchange, _ database: ServedDatabase, _ clients: Clients
  ) throws(FreshetError) {
    let doors = database.doors
    switch route {
    case .getSnapshot: try getSnapshot(exchange, .snapshot, database, clients)
    case .postSnapshot: try postSnapshot(exchange, database, clients)
    case .getSubscription: try getSubscription(exchange, database, clients)
    case .getChanges: try getChanges(exchange, database, clients)
    case .getQueries: exchange.answer(.json(doors.queries.listing(for: doors.permissions(of: exchange.identity))))
    case .getStatements:
      exchange.answer(.json(doors.statements.listing(for: doors.permissions(of: exchange.identity))))
    case .getPublishedQuery: try getSnapshot(exchange, .published(name), database, clients)
    case .postTransaction: try postTransaction(exchange, database)
    case .getExplanation: try getExplanation(exchange, database)
    case .getSchema: try getSchema(exchange, database)
    case .getServer: try getServer(exchange, database)
    default: try answer(route, name, exchange)
    }
  }

  private func postTransaction(_ exchange: HTTPExchange, _ database: ServedDatabase) throws(FreshetError) {
    let doors = database.doors
    var write = AuditLog.Write(actor: doors.actor(exchange.request.peer, exchange.identity, database.name))
    var once: TransactionMemory.Key?
    let transaction: Transaction
    do throws(FreshetError) {
      transaction = try doors.transaction(for: exchange.identity) {
        () throws(FreshetError) in
        guard case .object(let members) = try JSONValue(body: exchange.request.body) else {
          throw FreshetError(.badMessage, "the body must be a JSON object")
        }
        let source = try TransactionSource(members)
        try database.checkEpoch(members)
        once = try TransactionSource.once(members).map { .init($0, of: exchange.identity) }
        write.subject = doors.subject(of: source)
        exchange.record?.note(write.subject)
        return source
      }
    } catch {
      guard let transactions = database.transactions else { throw error }
      return transactions.refuse(write, error, once: once) { exchange.answer(HTTPAnswer($0)) }
    }
    guard let transactions = database.transactions else { return }
    transactions.transact(transaction, as: write, once: once, seenBy: database.pool) { exchange.answer(HTTPAnswer($0)) }
  }
}

extension ServedDatabase {
  /// - Throws: `constraint` if the client names another epoch, because the outcomes of that epoch's transactions are
  ///   not known here.
  fileprivate func checkEpoch(_ members: [String: JSONValue]) throws(FreshetError) {
    let present = pool.file.epochs.greeting
    guard let epoch = try TransactionSource.epoch(members), epoch != present else { return }
    throw FreshetError(
      .constraint, "the epoch is \"\(present)\" now: nothing is known here of transactions of \"\(epoch)\"")
  }
}

extension HTTPAnswer {
  fileprivate init(_ outcome: TransactionMemory.Outcome) {
    switch outcome {
    case .success(let committed):
      var writer = JSONWriter()
      writer.object { $0.committed(committed) }
      self = .json(writer.bytes)
    case .failure(let error): self = .problem(error)
    }
  }
}
