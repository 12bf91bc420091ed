import Controllers
import Dispatch
import Following
import Gateway
import LiveQuery

/// A request that waits for its one answer, and the headers of every answer to it.
struct HTTPExchange: Sendable {
  /// Without the token that came with it.
  let request: HTTPRequest
  /// The client's identity; what its role is in the database, once it is led there.
  var identity: Identity
  let id: RequestID
  let gateway: Gateway
  /// For pages of other origins.
  let origins: CrossOrigin
  /// The database of the request; nil: none, or none yet.
  var use: DatabaseUse?
  /// For logs and counters; nil where none are kept.
  var record: RequestRecord?

  /// Bodies of at least this many bytes are compressed for those who take it.
  private static let compressedFrom = 1_024
  private static let compression = DispatchQueue(label: "freshet.compression", attributes: .concurrent)

  /// Any thread. The first answer counts.
  func answer(_ answer: HTTPAnswer) {
    if let code = answer.code { record?.fail(code) }
    var answer = answer
    answer.headers += origins.headers
    var vary = origins.vary
    guard answer.body.count >= HTTPExchange.compressedFrom else { return respond(answer, vary: vary) }
    vary.append("Accept-Encoding")
    guard GzipEncoding.isAccepted(request.acceptEncoding) else { return respond(answer, vary: vary) }
    // Not here: a follower's thread has better things to do.
    HTTPExchange.compression.async { [answer, vary] in respond(answer.compressed(), vary: vary) }
  }

  /// Answers by the route of the request's method.
  ///
  /// - Parameter routes: those at the path of the request.
  func answer(at routes: [Route], _ perform: (Route) throws(FreshetError) -> Void) {
    // HEAD is GET; the gateway leaves the body out.
    let method = request.method == "HEAD" ? "GET" : request.method
    if let route = routes.first(where: { $0.method == method }) {
      if method == "POST", !request.hasJSONBody {
        return answer(.problem(.badMessage, "the body must be JSON: say Content-Type: application/json", status: 415))
      }
      do throws(FreshetError) { try perform(route) } catch { answer(.problem(error)) }
      return
    }
    let methods = Set(routes.map(\.method))
    let allowed = methods.union(methods.contains("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"]).sorted()
      .joined(separator: ", ")
    if method == "OPTIONS" { return answer(origins.preflight(allowed)) }
    answer(.problem(.methodNotAllowed, "\(request.path) knows \(allowed) only", headers: [("Allow", allowed)]))
  }

  /// Answers with a stream. On the service thread.
  ///
  /// - Returns: nil when the answer is whole: to HEAD.
  func openStream(_ form: StreamForm, head: [(name: String, value: String)]) -> ChannelID? {
    let vary = origins.vary.isEmpty ? [] : [("Vary", origins.vary.joined(separator: ", "))]
    return gateway.openStream(
      to: id, form.kind, head: [("Content-Type", form.contentType)] + head, headers: origins.headers + vary + epoch)
  }

  private func respond(_ answer: HTTPAnswer, vary: [String]) {
    let vary = vary.isEmpty ? [] : [("Vary", vary.joined(separator: ", "))]
    gateway.respond(to: id, status: answer.status, headers: answer.headers + vary + epoch, body: answer.body)
  }

  /// The epoch, which `hello` has on the socket.
  private var epoch: [(name: String, value: String)] {
    guard let use, Route.isAPI(DatabasePath(request.path).route) else { return [] }
    return [(Self.epochHeader, use.database.pool.file.epochs.greeting)]
  }
  static let epochHeader = "Freshet-Epoch"
}

extension HTTPAnswer {
  /// The same answer, compressed with gzip. Because different bytes must not have the same strong tag, the tag becomes
  /// a weak one.
  fileprivate func compressed() -> HTTPAnswer {
    guard let body = GzipEncoding.encode(body) else { return self }
    let headers = headers.map { header in
      header.name == "ETag" && header.value.hasPrefix("\"") ? (header.name, "W/\(header.value)") : header
    }
    return HTTPAnswer(status: status, headers: headers + [("Content-Encoding", "gzip")], body: body)
  }
}
