import Controllers
import Gateway
import LiveQuery
import Requests
import Store
import Synchronization
import Wire

// Explanations, the schema, metrics and readiness.
extension FreshetServer {
  func getExplanation(_ exchange: HTTPExchange) throws(FreshetError) {
    // An explanation shows SQL and tables: it is for those who may ask their own.
    _ = try permissions(of: exchange.identity).ownQueries()
    let source = try RequestParameters(QueryString(exchange.request.query), for: .explanation).source
    exchange.record?.note(subject(of: source))
    let query = try query(source, for: exchange.identity)
    let follower = pool.follower(for: query)
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

  func getSchema(_ exchange: HTTPExchange) throws(FreshetError) {
    let permissions = permissions(of: exchange.identity)
    let access = try permissions.ownQueries()
    snapshotRequests.add(.init(exchange: exchange, follower: pool.first, waits: false))
    pool.first.post(
      .schema(access, request: exchange.id.rawValue) { [snapshotRequests] result in
        snapshotRequests.remove(exchange.id)
        switch result {
        case .success(let tables):
          exchange.answer(.json(DatabaseTable.json(tables, allowsWrites: permissions.allowsOwnStatements)))
        case .failure(let error): exchange.answer(.problem(error))
        }
      })
  }

  /// Answers once every follower has sent its part, or has not in time.
  func getMetrics(_ exchange: HTTPExchange) {
    followerReports.request(of: pool) { [self] report in
      let headers = [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")]
      exchange.answer(HTTPAnswer(status: 200, headers: headers, body: Array(metrics(report).utf8)))
    }
  }

  /// Whether what clients ask can be answered: the followers are asked, for only they know.
  func getReadiness(_ exchange: HTTPExchange) {
    guard isReady.load(ordering: .relaxed) else {
      return exchange.answer(.problem(.shuttingDown, "the server is stopping"))
    }
    if let failure = replication?.readingFailure { return exchange.answer(.problem(failure)) }
    // No longer than load balancers wait for an answer.
    followerReports.request(of: pool, patience: .milliseconds(1_500)) { [self] report in
      exchange.answer(
        report.readingFailure.map { .problem(lockHolder($0)) } ?? .ready(isWritable: transactions?.isWritable))
    }
  }
}

extension FreshetServer {
  /// The failure, with the program that causes it, if one has locked the file.
  fileprivate func lockHolder(_ failure: FreshetError) -> FreshetError {
    guard failure.code == .overloaded, let holder = FileLocks.holder(of: configuration.database) else { return failure }
    return FreshetError(.overloaded, "the database is locked by \(holder)")
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
