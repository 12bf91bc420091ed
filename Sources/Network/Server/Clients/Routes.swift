import Controllers
import Following
import Gateway
import LiveQuery
import Wire

/// Answers requests, each at its route: protocol 4.
///
/// Any thread, where nothing else is said.
final class Routes: Sendable {
  let reports: ServerReports
  let doors: Doors
  let pool: ControllerPool
  let output: SessionOutput
  let snapshotRequests = SnapshotRequests()
  let refusals: OriginRefusals
  private let clientFiles: ClientFiles

  init(_ reports: ServerReports, _ output: SessionOutput, _ refusals: OriginRefusals, _ clientFiles: ClientFiles) {
    self.reports = reports
    self.output = output
    self.refusals = refusals
    self.clientFiles = clientFiles
    (doors, pool) = (reports.doors, reports.pool)
  }

  /// Answers a request whose token is refused; pages of other origins learn nothing of that.
  func refuse(_ exchange: HTTPExchange, _ error: FreshetError, of clients: Clients) {
    guard doors.origins.permits(exchange.request) else { return answer(exchange, of: clients) }
    exchange.answer(.problem(error))
  }

  /// Answers a request, now or later, exactly once. On the service thread of these clients.
  func answer(_ exchange: HTTPExchange, of clients: Clients) {
    let request = exchange.request
    if let refusal = doors.origins.refusal(of: request) {
      refusals.note(refusal)
      return exchange.answer(.problem(.notAllowed, refusal.message))
    }
    let (routes, name) = Route.at(request.path)
    guard !routes.isEmpty else {
      return exchange.answer(.problem(.notFound, "there is nothing at \(request.path)"))
    }
    exchange.answer(at: routes) { route throws(FreshetError) in try answer(route, name, exchange, clients) }
  }

  /// - Parameter name: what stands for the braces in the route's path.
  private func answer(
    _ route: Route, _ name: String, _ exchange: HTTPExchange, _ clients: Clients
  ) throws(FreshetError) {
    switch route {
    case .getSnapshot: try getSnapshot(exchange, .snapshot, clients)
    case .postSnapshot: try postSnapshot(exchange, clients)
    case .getSubscription: try getSubscription(exchange, clients)
    case .getChanges: try getChanges(exchange, clients)
    case .getQueries: exchange.answer(.json(doors.queries.listing(for: doors.permissions(of: exchange.identity))))
    case .getStatements:
      exchange.answer(.json(doors.statements.listing(for: doors.permissions(of: exchange.identity))))
    case .getPublishedQuery: try getSnapshot(exchange, .published(name), clients)
    case .postTransaction: try postTransaction(exchange)
    case .getExplanation: try getExplanation(exchange)
    case .getSchema: try getSchema(exchange)
    case .getServer: try getServer(exchange)
    case .getClientFile: exchange.answer(clientFiles.answer(to: name, EntityTags(exchange.request.ifNoneMatch)))
    case .getHealth, .getReadiness, .getMetrics: reports.answer(route, exchange)
    case .getOpenAPI: exchange.answer(.json(PackageResources.openapi_json))
    case .getAsyncAPI: exchange.answer(.json(PackageResources.asyncapi_json))
    }
  }

  func postTransaction(_ exchange: HTTPExchange) throws(FreshetError) {
    var write = AuditLog.Write(actor: doors.actor(exchange.request.peer, exchange.identity))
    var once: TransactionMemory.Key?
    let transaction: Transaction
    do throws(FreshetError) {
      transaction = try doors.transaction(for: exchange.identity) {
        () throws(FreshetError) in
        guard case .object(let members) = try JSONValue(body: exchange.request.body) else {
          throw FreshetError(.badMessage, "the body must be a JSON object")
        }
        let source = try TransactionSource(members)
        try checkEpoch(members)
        once = try TransactionSource.once(members).map { .init($0, of: exchange.identity) }
        write.subject = doors.subject(of: source)
        exchange.record?.note(write.subject)
        return source
      }
    } catch {
      guard let transactions = reports.transactions else { throw error }
      return transactions.refuse(write, error, once: once) { exchange.answer(HTTPAnswer($0)) }
    }
    guard let transactions = reports.transactions else { return }
    transactions.transact(transaction, as: write, once: once, seenBy: pool) { exchange.answer(HTTPAnswer($0)) }
  }
}

extension Routes {
  /// - Throws: `constraint` where the client names another epoch: what came of a transaction of that epoch is not known here.
  private func checkEpoch(_ members: [String: JSONValue]) throws(FreshetError) {
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
