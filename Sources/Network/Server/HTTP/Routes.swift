import Following
import Gateway
import LiveQuery
import Wire

// Routing, and the routes that need no other thread: protocol 4.
extension FreshetServer {
  /// Answers a request whose token is refused; pages of other origins learn nothing of that.
  func refuse(_ exchange: HTTPExchange, _ error: FreshetError) {
    guard originPolicy.permits(exchange.request) else { return answer(exchange) }
    exchange.answer(.problem(error))
  }

  /// Answers a request, now or later, exactly once. Called on the service thread.
  func answer(_ exchange: HTTPExchange) {
    let request = exchange.request
    if let refusal = originPolicy.refusal(of: request) {
      originRefusals.note(refusal)
      return exchange.answer(.problem(.notAllowed, refusal.message))
    }
    let (routes, name) = Route.at(request.path)
    guard !routes.isEmpty else {
      return exchange.answer(.problem(.notFound, "there is nothing at \(request.path)"))
    }
    answer(routes, name, exchange)
  }

  /// - Parameter routes: those at the path of the request.
  func answer(_ routes: [Route], _ name: String, _ exchange: HTTPExchange) {
    let request = exchange.request
    // HEAD is GET; the gateway leaves the body out.
    let method = request.method == "HEAD" ? "GET" : request.method
    if let route = routes.first(where: { $0.method == method }) {
      if method == "POST", !request.hasJSONBody {
        return exchange.answer(
          .problem(.badMessage, "the body must be JSON: say Content-Type: application/json", status: 415))
      }
      do throws(FreshetError) { try answer(route, name, exchange) } catch { exchange.answer(.problem(error)) }
      return
    }
    let methods = Set(routes.map(\.method))
    let allowed = methods.union(methods.contains("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"]).sorted()
      .joined(separator: ", ")
    if method == "OPTIONS" { return exchange.answer(exchange.origins.preflight(allowed)) }
    exchange.answer(
      .problem(.methodNotAllowed, "\(request.path) knows \(allowed) only", headers: [("Allow", allowed)]))
  }

  /// - Parameter name: what stands for the braces in the route's path.
  private func answer(_ route: Route, _ name: String, _ exchange: HTTPExchange) throws(FreshetError) {
    switch route {
    case .getSnapshot: try getSnapshot(exchange, .snapshot)
    case .postSnapshot: try postSnapshot(exchange)
    case .getSubscription: try getSubscription(exchange)
    case .getChanges: try getChanges(exchange)
    case .getQueries: exchange.answer(.json(configuration.queries.listing(for: permissions(of: exchange.identity))))
    case .getStatements:
      exchange.answer(.json(configuration.statements.listing(for: permissions(of: exchange.identity))))
    case .getPublishedQuery: try getSnapshot(exchange, .published(name))
    case .postTransaction: try postTransaction(exchange)
    case .getExplanation: try getExplanation(exchange)
    case .getSchema: try getSchema(exchange)
    case .getServer: try getServer(exchange)
    case .getClientFile: exchange.answer(clientFiles.answer(to: name, EntityTags(exchange.request.ifNoneMatch)))
    case .getHealth: exchange.answer(.json(Array("{\"status\":\"ok\"}".utf8)))
    case .getReadiness: getReadiness(exchange)
    case .getMetrics: getMetrics(exchange)
    case .getOpenAPI: exchange.answer(.json(PackageResources.openapi_json))
    case .getAsyncAPI: exchange.answer(.json(PackageResources.asyncapi_json))
    }
  }

  func postTransaction(_ exchange: HTTPExchange) throws(FreshetError) {
    var write = AuditLog.Write(actor: actor(exchange.request.peer, exchange.identity))
    var once: TransactionMemory.Key?
    let transaction: Transaction
    do throws(FreshetError) {
      transaction = try permissions(of: exchange.identity).transaction(configuration.statements) {
        () throws(FreshetError) in
        guard case .object(let members) = try JSONValue(body: exchange.request.body) else {
          throw FreshetError(.badMessage, "the body must be a JSON object")
        }
        let source = try TransactionSource(members)
        try checkEpoch(members)
        once = try TransactionSource.once(members).map { .init($0, of: exchange.identity) }
        write.subject = subject(of: source)
        exchange.record?.note(write.subject)
        return source
      }
    } catch {
      guard let transactions else { throw error }
      return transactions.refuse(write, error, once: once) { exchange.answer(HTTPAnswer($0)) }
    }
    guard let transactions else { return }
    transactions.transact(transaction, as: write, once: once, seenBy: pool) { exchange.answer(HTTPAnswer($0)) }
  }
}

extension FreshetServer {
  /// - Throws: `constraint` where the client names another epoch: what came of a transaction of that epoch is not known here.
  private func checkEpoch(_ members: [String: JSONValue]) throws(FreshetError) {
    let present = epochs.greeting
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
