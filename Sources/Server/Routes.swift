import Controllers
import Gateway
import LiveQuery
import Synchronization
import Wire

// The HTTP routes: protocol 4.
extension FreshetServer {
  /// Answers a request, now or later, exactly once. Called on the service thread.
  func answer(_ request: HTTPRequest, _ reply: @escaping @Sendable (HTTPAnswer) -> Void) {
    guard originPolicy.permits(request) else {
      return reply(.problem(.notAllowed, "pages of this origin may not use this server"))
    }
    let routes: [String: [String: (HTTPRequest, @escaping @Sendable (HTTPAnswer) -> Void) -> Void]] = [
      "/v1/snapshot": ["GET": getSnapshot, "POST": postSnapshot],
      "/v1/transactions": ["POST": postTransaction],
      "/healthz": ["GET": { $1(.json(Array("{\"status\":\"ok\"}".utf8))) }],
      "/readyz": ["GET": getReadiness],
    ]
    guard let methods = routes[request.path] else {
      return reply(.problem(.notFound, "there is nothing at \(request.path)"))
    }
    // HEAD is GET; the gateway leaves the body out.
    guard let route = methods[request.method == "HEAD" ? "GET" : request.method] else {
      let allowed = (methods.keys + (methods["GET"] == nil ? [] : ["HEAD"])).sorted().joined(separator: ", ")
      return reply(
        .problem(.methodNotAllowed, "\(request.path) knows \(allowed) only", headers: [("Allow", allowed)]))
    }
    route(request, reply)
  }

  private func getReadiness(_ request: HTTPRequest, _ reply: @Sendable (HTTPAnswer) -> Void) {
    if isReady.load(ordering: .relaxed) {
      reply(.json(Array("{\"status\":\"ready\"}".utf8)))
    } else {
      reply(.problem(.shuttingDown, "the server is stopping"))
    }
  }

  private func getSnapshot(_ request: HTTPRequest, _ reply: @escaping @Sendable (HTTPAnswer) -> Void) {
    do throws(FreshetError) {
      snapshot(try SnapshotParameters(QueryString(request.query)), ifNoneMatch: request.ifNoneMatch, reply)
    } catch { reply(.problem(error)) }
  }

  private func postSnapshot(_ request: HTTPRequest, _ reply: @escaping @Sendable (HTTPAnswer) -> Void) {
    do throws(FreshetError) {
      snapshot(try SnapshotParameters(body: request.body), ifNoneMatch: request.ifNoneMatch, reply)
    } catch { reply(.problem(error)) }
  }

  private func snapshot(
    _ parameters: SnapshotParameters, ifNoneMatch: String?, _ reply: @escaping @Sendable (HTTPAnswer) -> Void
  ) {
    let request = WorkerCommand.SnapshotRequest(query: parameters.query, window: parameters.window) { result in
      switch result {
      case .failure(let error): reply(.problem(error))
      case .success(.unchanged(let version)):
        reply(HTTPAnswer(status: 304, headers: [("ETag", "\"\(version)\""), ("Cache-Control", "no-cache")], body: []))
      case .success(.snapshot(let delivery)):
        let tag = "\"\(delivery.version)\""
        let headers = [("ETag", tag), ("Cache-Control", "no-cache")]
        if let ifNoneMatch, ifNoneMatch.matches(tag: tag) {
          return reply(HTTPAnswer(status: 304, headers: headers, body: []))
        }
        let layout = RowLayout(columns: delivery.columns, shape: parameters.shape)
        reply(.json(MessageBody.snapshot(delivery, layout).standalone, headers: headers))
      }
    }
    pool.worker(for: parameters.query).post(.snapshot(request))
  }

  private func postTransaction(_ request: HTTPRequest, _ reply: @escaping @Sendable (HTTPAnswer) -> Void) {
    guard let transactions else {
      return reply(.problem(.notAllowed, "writing is not allowed on this server"))
    }
    do throws(FreshetError) {
      let statements = try SQLStatement.list(body: request.body)
      transactions.transact(statements) { [pool] result in
        switch result {
        case .success(let (changes, commit)):
          pool.post(.databaseChanged)
          reply(.json(Array("{\"changes\":\(changes),\"commit\":\(commit)}".utf8)))
        case .failure(let error): reply(.problem(error))
        }
      }
    } catch { reply(.problem(error)) }
  }
}

extension SQLStatement {
  fileprivate static func list(body: [UInt8]) throws(FreshetError) -> [SQLStatement] {
    try list(json: try JSONValue(body: body)["statements"])
  }
}

extension String {
  /// Whether an If-None-Match header names the tag: a list, `*`, weak or strong.
  fileprivate func matches(tag: String) -> Bool {
    split(separator: ",").contains { part in
      let candidate = part.drop { $0 == " " }.prefix { $0 != " " }
      return candidate == "*" || candidate == tag || candidate == "W/\(tag)"
    }
  }
}
