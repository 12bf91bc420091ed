import Foundation
import ServerSupport
import TestSupport
import Testing

@testable import Server

/// The JavaScript client at its fixed path.
@Suite struct ClientFilesTests {
  private static let bundled = Fixtures.repository.appending(path: "public").path

  private func serve(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws -> LiveServer {
    try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY)") {
      $0.pages.clientDirectory = Self.bundled
      configure(&$0)
    }
  }

  @Test(arguments: ["freshet.min.js", "live-list.min.js", "live-chart.min.js", "freshet.d.ts", "freshet.min.js.map"])
  func `Every server has the client, whatever else it serves`(name: String) throws {
    let folder = try TemporaryFolder()
    // A file in the way, at the path of the bundled page.
    try "other".write(toFile: folder.path("freshet.min.js"), atomically: true, encoding: .utf8)
    let live = try serve { $0.pages.directory = (folder.path("x") as NSString).deletingLastPathComponent }
    let expected = try String(contentsOfFile: "\(Self.bundled)/\(name)", encoding: .utf8)
    let response = try live.http("GET", "/v1/client/\(name)")
    #expect(response.status == 200 && response.text == expected)
    let types = ["js": "text/javascript; charset=utf-8", "ts": "text/plain; charset=utf-8", "map": "application/json"]
    #expect(response.headers["content-type"] == types[String(name.split(separator: ".").last!)])
    let tag = try #require(response.headers["etag"])
    #expect(try live.http("GET", "/v1/client/\(name)", headers: ["If-None-Match: \(tag)"]).status == 304)
    #expect(try live.http("GET", "/freshet.min.js").text == "other")
    live.stop()
  }

  @Test(arguments: ["index.html", "nosuch.js", "..%2Findex.html", "client/client.js", ""])
  func `Nothing else is at that path`(name: String) throws {
    let live = try serve()
    let response = try live.http("GET", "/v1/client/\(name)")
    #expect(response.status == 404 && !response.text.contains("<html"))
    live.stop()
  }

  @Test func `Pages of allowed origins may load it, others not`() throws {
    let live = try serve { $0.pages.allowedOrigins = ["https://good.example"] }
    let path = "/v1/client/freshet.min.js"
    let good = try live.http("GET", path, headers: ["Origin: https://good.example"])
    #expect(good.status == 200 && good.headers["access-control-allow-origin"] == "https://good.example")
    #expect(try live.http("GET", path, headers: ["Origin: https://evil.example"]).status == 403)
    live.stop()
  }

  @Test func `A server without the files says so`() throws {
    let live = try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let response = try live.http("GET", "/v1/client/freshet.min.js")
    #expect(response.status == 404 && response.text.contains("this server has no client files"))
    live.stop()
  }
}
