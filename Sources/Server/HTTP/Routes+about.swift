import Controllers
import Gateway
import LiveQuery
import Synchronization
import Wire

// Explanations, the schema, metrics and readiness.
extension FreshetServer {
  func getExplanation(_ exchange: HTTPExchange) throws(FreshetError) {
    // An explanation shows SQL and tables: it is for those who may ask their own.
    _ = try permissions(of: exchange.identity).ownQueries()
    let source = try RequestParameters(QueryString(exchange.request.query), for: .explanation).source
    let query = try query(source, for: exchange.identity)
    pool.follower(for: query).post(
      .explain(query) { result in
        switch result {
        case .success(let explanation): exchange.answer(.json(explanation.json))
        case .failure(let error): exchange.answer(.problem(error))
        }
      })
  }

  func getSchema(_ exchange: HTTPExchange) throws(FreshetError) {
    let access = try permissions(of: exchange.identity).ownQueries()
    pool.first.post(
      .schema(access) { result in
        switch result {
        case .success(let tables): exchange.answer(.json(DatabaseTable.json(tables)))
        case .failure(let error): exchange.answer(.problem(error))
        }
      })
  }

  /// Answers once every follower has sent its part.
  func getMetrics(_ exchange: HTTPExchange) {
    let sum = StatisticsSum(parts: max(1, configuration.followers))
    pool.post(
      .statistics { [self] part in
        guard let statistics = sum.add(part) else { return }
        let headers = [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")]
        exchange.answer(HTTPAnswer(status: 200, headers: headers, body: Array(metrics(statistics).utf8)))
      })
  }

  /// Whether what clients ask can be answered: the followers are asked, for only they know.
  func getReadiness(_ exchange: HTTPExchange) {
    guard isReady.load(ordering: .relaxed) else {
      return exchange.answer(.problem(.shuttingDown, "the server is stopping"))
    }
    let check = ReadinessCheck(parts: max(1, configuration.followers)) { error in
      exchange.answer(error.map { .problem($0) } ?? .json(Array("{\"status\":\"ready\"}".utf8)))
    }
    pool.post(.readiness { check.add($0) })
  }
}
