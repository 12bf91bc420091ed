import Server
import ServerSupport
import TestSupport
import Testing

/// Pages of other origins that the operator allows (CORS).
@Suite struct CrossOriginTests {
  private static let good = "https://good.example"

  private func serve() throws -> LiveServer {
    try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY, a);") {
      $0.pages.allowedOrigins = [Self.good]
      $0.access.allowsWrites = true
    }
  }

  @Test(arguments: [
    ("GET", "/v1/snapshot?from=t", 200), ("GET", "/v1/snapshot?from=nosuch", 400), ("GET", "/v1/nosuch", 404),
    ("GET", "/v1/subscriptions?from=t", 200), ("GET", "/v1/subscriptions?from=nosuch", 400), ("GET", "/metrics", 200),
    ("HEAD", "/v1/snapshot?from=t", 200), ("POST", "/healthz", 405),
  ])
  func `Every answer to an allowed origin says that it may be read`(
    method: String, target: String, status: Int
  ) throws {
    let live = try serve()
    func head(_ headers: [String]) throws -> RawResponse {
      let socket = try RawSocket(port: live.server.port)
      let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Content-Length: 0"] + headers
      try socket.write(lines.joined(separator: "\r\n") + "\r\n\r\n")
      return try socket.readResponse(bodyless: true)
    }
    let allowed = try head(["Origin: \(Self.good)"])
    #expect(allowed.status == status)
    #expect(allowed.headers["access-control-allow-origin"] == Self.good)
    #expect(allowed.headers["access-control-expose-headers"] == "ETag, Freshet-Epoch")
    #expect(allowed.headers["vary"]?.hasPrefix("Origin") == true)
    let own = try head([])
    #expect(own.status == status && own.headers["access-control-allow-origin"] == nil)
    #expect(own.headers["vary"]?.hasPrefix("Origin") == true, "a cache must not give this answer to others")
    let foreign = try head(["Origin: https://evil.example"])
    #expect(foreign.status == 403 && foreign.headers["access-control-allow-origin"] == nil)
    live.stop()
  }

  @Test(arguments: [
    ("/v1/snapshot", "GET, HEAD, OPTIONS, POST"), ("/v1/transactions", "OPTIONS, POST"),
    ("/v1/subscriptions", "GET, HEAD, OPTIONS"), ("/v1/queries/x", "GET, HEAD, OPTIONS"),
  ])
  func `A browser's question is answered with what may be asked`(path: String, methods: String) throws {
    let live = try serve()
    let question = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"]
    let response = try live.http("OPTIONS", path, headers: ["Origin: \(Self.good)"] + question)
    #expect(response.status == 204 && response.body.isEmpty)
    #expect(response.headers["access-control-allow-origin"] == Self.good)
    #expect(response.headers["access-control-allow-methods"] == methods)
    #expect(response.headers["access-control-allow-headers"]?.contains("Content-Type") == true)
    #expect(response.headers["access-control-max-age"] == "600" && response.headers["vary"] == "Origin")
    let foreign = try live.http("OPTIONS", path, headers: ["Origin: https://evil.example"] + question)
    #expect(foreign.status == 403 && foreign.headers["access-control-allow-methods"] == nil)
    let plain = try live.http("OPTIONS", path)
    #expect(plain.status == 204 && plain.headers["allow"] == methods)
    #expect(plain.headers["access-control-allow-methods"] == nil)
    live.stop()
  }

  @Test func `Without allowed origins nothing is said of them`() throws {
    let live = try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY);")
    let response = try live.http("GET", "/v1/snapshot?from=t", headers: ["Origin: http://localhost"])
    #expect(response.status == 200 && !response.headers.keys.contains { $0.hasPrefix("access-control") })
    #expect(response.headers["vary"] == nil)
    live.stop()
  }
}
