import Controllers
import Gateway
import LiveQuery
import Requests
import Store
import Synchronization
import Wire

// Explanations and the schema.
extension Routes {
  func getExplanation(_ exchange: HTTPExchange, _ database: ServedDatabase) throws(FreshetError) {
    // An explanation shows SQL and tables, so only clients that may send their own queries get it.
    _ = try database.doors.permissions(of: exchange.identity).ownQueries()
    let source = try RequestParameters(QueryString(exchange.request.query), for: .explanation).source
    exchange.record?.note(database.doors.subject(of: source))
    let query = try database.doors.query(source, for: exchange.identity)
    let follower = database.pool.follower(for: query)
    snapshotRequests.add(.init(exchange: exchange, follower: follower, waits: false))
    follower.post(
      .explain(query, request: exchange.id.rawValue) { [snapshotRequests] result in
        snapshotRequests.remove(exchange.id)
        switch result {
        case .success(let explanation): exchange.answer(.json(explanation.json))
        case .failure(let error): exchange.answer(.problem(error))
        }
      })
  }

  func getSchema(_ exchange: HTTPExchange, _ database: ServedDatabase) throws(FreshetError) {
    let permissions = database.doors.permissions(of: exchange.identity)
    let access = try permissions.ownQueries()
    snapshotRequests.add(.init(exchange: exchange, follower: database.pool.first, waits: false))
    database.pool.first.post(
      .schema(access, request: exchange.id.rawValue) { [snapshotRequests] result in
        snapshotRequests.remove(exchange.id)
        switch result {
        case .success(let tables):
          exchange.answer(.json(DatabaseTable.json(tables, allowsWrites: permissions.allowsOwnStatements)))
        case .failure(let error): exchange.answer(.problem(error))
        }
      })
  }
}

// Metrics, health and readiness.
extension ServerReports {
  /// - Parameter route: one of `Route.ofMetrics`.
  func answer(_ route: Route, _ exchange: HTTPExchange) {
    switch route {
    case .getMetrics:
      metrics { text in
        let headers = [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")]
        exchange.answer(HTTPAnswer(status: 200, headers: headers, body: Array(text.utf8)))
      }
    case .getMetricsHistory: exchange.answer(.json(history.json, headers: [("Cache-Control", "no-store")]))
    case .getReadiness:
      readiness { [self] failure in
        exchange.answer(failure.map { .problem($0) } ?? .ready(isWritable: isWritable))
      }
    default: exchange.answer(.json(Array("{\"status\":\"ok\"}".utf8)))
    }
  }
}

extension HTTPAnswer {
  /// - Parameter isWritable: nil where clients write nothing.
  fileprivate static func ready(isWritable: Bool?) -> HTTPAnswer {
    var writer = JSONWriter()
    writer.object {
      $0.member("status", "ready")
      if let isWritable { $0.member("writable", isWritable) }
    }
    return .json(writer.bytes)
  }
}
