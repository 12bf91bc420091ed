import Dispatch
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// `GET /v1/snapshot?wait=25`: an answer as soon as it changes.
@Suite struct WaitTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    """

  /// A request that has been sent and not been answered.
  private func ask(_ live: LiveServer, _ target: String, tag: String?) throws -> RawSocket {
    let socket = try RawSocket(port: live.server.port)
    let header = tag.map { "If-None-Match: \($0)\r\n" } ?? ""
    try socket.write("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n")
    return socket
  }

  @Test func `An answer waits for a change, of the result and not of the database`() throws {
    let live = try LiveServer(Self.schema)
    let target = "/v1/snapshot?from=t&where=id%3D1&wait=20"
    let tag = try #require(
      try live.http("GET", target).headers["etag"], "without a version there is nothing to wait for")
    let start = ContinuousClock.now
    let sockets = try ["\(tag)", "W/\(tag)"].map { try ask(live, target, tag: $0) }
    try live.writer.run("UPDATE t SET a = 'other' WHERE id = 2")
    #expect(try live.http("GET", "/v1/snapshot?from=t").text.contains("other"))
    try live.writer.run("UPDATE t SET a = 'new' WHERE id = 1")
    for socket in sockets {
      let response = try socket.readResponse()
      #expect(response.status == 200 && response.text.contains("new") && !response.text.contains("other"))
      #expect(response.headers["etag"] != tag)
    }
    #expect(ContinuousClock.now - start < .seconds(8))
    live.stop()
  }

  @Test func `When nothing comes the answer is 304`() throws {
    let live = try LiveServer(Self.schema)
    let tag = try #require(try live.http("GET", "/v1/snapshot?from=t").headers["etag"])
    let start = ContinuousClock.now
    let response = try live.http("GET", "/v1/snapshot?from=t&wait=0.3", headers: ["If-None-Match: \(tag)"])
    #expect(response.status == 304 && response.headers["etag"] == tag)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
    // A request with another version than the newest does not wait.
    #expect(try live.http("GET", "/v1/snapshot?from=t&wait=20", headers: ["If-None-Match: \"x\""]).status == 200)
    #expect(try live.http("GET", "/v1/snapshot?from=t&wait=0", headers: ["If-None-Match: \(tag)"]).status == 304)
    live.stop()
  }

  @Test(arguments: ["61", "-1", "x", "", "nan", "inf"])
  func `How long is limited`(wait: String) throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/snapshot?from=t&wait=\(wait)")
    #expect(response.status == 400 && response.text.contains("\"code\":\"bad_query\""))
    live.stop()
  }

  @Test func `Readers give up what a client who has left asked for`() throws {
    let live = try LiveServer(Self.schema)
    let endless = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i%2B1 FROM n) SELECT count(*) FROM n)"
    let sockets = try (1...3).map { number in
      let filter = "\(endless) = \(number)".replacing(" ", with: "%20").replacing("=", with: "%3D")
      return try ask(live, "/v1/snapshot?from=t&where=\(filter)", tag: nil)
    }
    let running = {
      try live.http("GET", "/metrics").text.split(separator: "\n").first {
        $0.hasPrefix("freshet_reader_jobs_running ")
      }
    }
    let deadline = ContinuousClock.now + .seconds(20)
    while try running()?.hasSuffix(" 3") != true, ContinuousClock.now < deadline {}
    sockets.forEach { $0.close() }
    while try running()?.hasSuffix(" 0") != true, ContinuousClock.now < deadline {}
    #expect(try running()?.hasSuffix(" 0") == true)
    live.stop()
  }

  @Test func `Those who wait neither keep others waiting nor a server from stopping`() throws {
    let live = try LiveServer(Self.schema)
    let tag = try #require(try live.http("GET", "/v1/snapshot?from=t").headers["etag"])
    let sockets = try (0..<20).map { _ in try ask(live, "/v1/snapshot?from=t&wait=60", tag: tag) }
    sockets.prefix(10).forEach { $0.close() }
    #expect(try live.http("GET", "/v1/snapshot?from=t&limit=1").status == 200)
    let done = live.stopInBackground()
    for socket in sockets.dropFirst(10) {
      let response = try socket.readResponse()
      #expect(response.status == 503 && response.text.contains("\"code\":\"shutting_down\""))
    }
    #expect(done.wait(timeout: .now() + .seconds(20)) == .success)
  }
}
