import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Results as files that other programs read.
@Suite struct TableFormatTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, "a,b" TEXT, r REAL, x);
    INSERT INTO t VALUES (1, 'plain', 1.5, NULL), (2, 'a "quoted", one', -0.25, ''),
      (3, 'two' || char(13, 10) || 'lines', 9e999, x'00ff'), (4, 'ä€', 1e300, 9223372036854775807);
    """

  private func serve() throws -> LiveServer { try LiveServer(Self.schema) }

  @Test func `A list is a CSV file`() throws {
    let live = try serve()
    let response = try live.http("GET", "/v1/snapshot?from=t&format=csv")
    #expect(response.status == 200)
    #expect(response.headers["content-type"] == "text/csv; charset=utf-8; header=present")
    #expect(response.headers["content-disposition"] == "attachment; filename=\"t.csv\"")
    let expected = [
      "id,\"a,b\",r,x", "1,plain,1.5,", "2,\"a \"\"quoted\"\", one\",-0.25,\"\"", "3,\"two\r\nlines\",Inf,AP8=",
      "4,ä€,1e+300,9223372036854775807",
    ]
    #expect(response.text == expected.map { $0 + "\r\n" }.joined())
    let tag = try #require(response.headers["etag"])
    let again = try live.http("GET", "/v1/snapshot?from=t&format=csv", headers: ["If-None-Match: \(tag)"])
    #expect(again.status == 304)
    live.stop()
  }

  @Test func `A list is a JSON object on each line`() throws {
    let live = try serve()
    let response = try live.http("GET", "/v1/snapshot?from=t&format=ndjson&orderBy=id+DESC")
    #expect(response.headers["content-type"] == "application/x-ndjson")
    let lines = try response.text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    #expect(lines.count == 4 && lines[3].jsonText == #"{"a,b":"plain","id":1,"r":1.5,"x":null}"#)
    #expect(lines[0].jsonText.contains(#"{"$int":"9223372036854775807"}"#))
    live.stop()
  }

  @Test func `A file has all rows, or as many as are asked for`() throws {
    let live = try LiveServer(
      "CREATE TABLE n(i INTEGER PRIMARY KEY); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) "
        + "INSERT INTO n SELECT i FROM c")
    let lines = { (query: String) in
      try live.http("GET", "/v1/snapshot?\(query)").text.split(separator: "\r\n").map(String.init)
    }
    #expect(try lines("from=n&format=csv") == ["i"] + (1...5_000).map(String.init))
    #expect(try lines("format=csv&limit=2&offset=7&from=n") == ["i", "8", "9"])
    #expect(try lines("from=n&where=i%3C0&format=csv") == ["i"])
    #expect(try live.http("GET", "/v1/snapshot?from=n&format=xls").status == 400)
    #expect(try live.http("GET", "/v1/subscriptions?from=n&format=csv").status == 400)
    #expect(try live.http("GET", "/v1/snapshot?from=nosuch&format=csv").text.contains("no_such_table"))
    let name = try live.http("GET", "/v1/snapshot?from=(SELECT+1+AS+a)+AS+%22x%22&key=a&format=csv")
    #expect(name.headers["content-disposition"] == "attachment; filename=\"list.csv\"")
    live.stop()
  }

  private static func rows(_ count: Int, text: String) -> String {
    "CREATE TABLE n(i INTEGER PRIMARY KEY, t TEXT); INSERT INTO n "
      + "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count)) SELECT i, \(text) FROM c"
  }

  @Test func `A long table comes in parts, the same rows as in one`() throws {
    let live = try LiveServer(Self.rows(25_000, text: "'text ' || i"))
    let formats: [(String, (Int) -> String)] = [
      ("csv", { "\($0),text \($0)" }), ("ndjson", { "{\"i\":\($0),\"t\":\"text \($0)\"}" }),
    ]
    for (format, line) in formats {
      for (window, range) in [("", 1...25_000), ("&limit=12000&offset=100", 101...12_100)] {
        let socket = try RawSocket(port: live.server.port)
        let head = try socket.request("GET", "/v1/snapshot?from=n&format=\(format)\(window)")
        #expect(head.status == 200 && head.headers["transfer-encoding"] == "chunked" && head.headers["etag"] == nil)
        #expect(head.headers["content-disposition"] == "attachment; filename=\"n.\(format)\"")
        var (text, parts) = ([UInt8](), 0)
        while case let part = try socket.readChunk(), !part.isEmpty {
          text += part
          parts += 1
        }
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        #expect(parts > 1 && lines == (format == "csv" ? ["i,t"] : []) + range.map(line))
      }
    }
    #expect(
      try live.http("HEAD", "/v1/snapshot?from=n&format=csv").headers["content-type"]?.hasPrefix("text/csv") == true)
    #expect(try live.http("GET", "/v1/snapshot?from=n&format=csv&limit=10").headers["etag"] != nil)
    live.stop()
  }

  @Test(arguments: ["DROP TABLE n", nil]) func `A table that cannot be ended has no end`(statement: String?) throws {
    // More than the kernel takes for a client that does not read.
    let live = try LiveServer(Self.rows(20_000, text: "hex(zeroblob(1500))"))
    let socket = try RawSocket(port: live.server.port)
    #expect(try socket.request("GET", "/v1/snapshot?from=n&format=csv").status == 200)
    _ = try socket.readChunk()
    if let statement {
      try live.writer.run(statement)
      // Another client's answer tells that the server knows it.
      #expect(
        try comesTrue(within: .seconds(20)) { try live.http("GET", "/v1/snapshot?from=n&limit=1").status == 400 })
    } else {
      live.stop()
    }
    let rest = try socket.readToEnd()
    // A row ends with 0, too.
    #expect(rest.count < 55_000_000 && !rest.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8))
    if statement != nil { live.stop() }
  }
}
