import Server
import ServerSupport
import TestSupport
import Testing

/// Long answers in gzip coding.
@Suite struct GzipTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO t SELECT i, 'some text ' || i FROM n;
    """

  /// The content of a gzip member: a header of ten bytes, deflate, eight bytes of checks.
  private func gunzip(_ body: [UInt8]) throws -> [UInt8] {
    #expect(Array(body.prefix(3)) == [0x1F, 0x8B, 8])
    var inflate = Inflate()
    return try inflate.message(Array(body.dropFirst(10).dropLast(8)))
  }

  /// An Accept-Encoding header, and whether it allows gzip.
  @Test(arguments: [
    ("gzip", true), ("GZIP", true), ("br, gzip;q=0.5", true), ("deflate,gzip ; q=1.0", true), ("*", true),
    ("x-gzip", true), ("gzip;q=0", false), ("gzip; q=0.0, *", false), ("*;q=0", false), ("br", false),
    ("identity", false), ("", false), ("gzip;q=x", false),
  ])
  func `Who takes gzip gets it`(header: String, isAccepted: Bool) throws {
    let live = try LiveServer(Self.schema)
    let target = "/v1/snapshot?from=t&limit=2000"
    let plain = try live.http("GET", target)
    #expect(plain.headers["content-encoding"] == nil && plain.headers["vary"] == "Accept-Encoding")
    let response = try live.http("GET", target, headers: ["Accept-Encoding: \(header)"])
    #expect(response.status == 200 && response.headers["vary"] == "Accept-Encoding")
    #expect(response.headers["content-encoding"] == (isAccepted ? "gzip" : nil))
    guard isAccepted else {
      #expect(response.body == plain.body)
      return live.stop()
    }
    #expect(response.body.count < plain.body.count / 3)
    #expect(try gunzip(response.body) == plain.body)
    let tag = try #require(response.headers["etag"])
    #expect(tag == "W/\(plain.headers["etag"]!)")
    let again = try live.http("GET", target, headers: ["Accept-Encoding: gzip", "If-None-Match: \(tag)"])
    #expect(again.status == 304)
    let head = try live.http("HEAD", target, headers: ["Accept-Encoding: gzip"])
    #expect(head.headers["content-encoding"] == "gzip")
    #expect(head.headers["content-length"] == response.headers["content-length"])
    live.stop()
  }

  @Test func `Short answers and streams stay as they are`() throws {
    let live = try LiveServer(Self.schema)
    let short = try live.http("GET", "/v1/snapshot?from=t&limit=1", headers: ["Accept-Encoding: gzip"])
    #expect(short.status == 200 && short.headers["content-encoding"] == nil)
    let path = "/v1/subscriptions?from=t&limit=2000"
    let stream = try EventClient(port: live.server.port, path, headers: ["Accept-Encoding: gzip"])
    #expect(stream.head.headers["content-encoding"] == nil)
    try stream.load()
    live.stop()
  }
}
