import Foundation
import Gateway
import TestSupport
import Testing

/// A directory with files, removed with the value.
private final class PublicDirectory {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "gateway-\(UUID().uuidString)"
    try write("index.html", "<!doctype html>")
    try write("../\((path as NSString).lastPathComponent).secret", "outside")
  }

  var secretName: String { (path as NSString).lastPathComponent + ".secret" }

  func write(_ name: String, _ text: String) throws {
    let file = path + "/" + name
    let folder = (file as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: true, encoding: .utf8)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
    try? FileManager.default.removeItem(atPath: path + ".secret")
  }
}

@Suite struct StaticFileTests {
  private func withFiles(_ body: (PublicDirectory, RawSocket) throws -> Void) throws {
    let files = try PublicDirectory()
    func configure(_ configuration: inout GatewayConfiguration) {
      configuration.publicDirectory = files.path
      configuration.staticHeaders = [
        ("Content-Security-Policy", "default-src 'self'"), ("X-Content-Type-Options", "nosniff"),
      ]
    }
    try withGateway(configure: configure) { gateway in
      try body(files, RawSocket(port: gateway.port))
    }
  }

  @Test func `A directory that is mounted hides what the public one has there`() throws {
    let (files, pages) = (try PublicDirectory(), try PublicDirectory())
    try pages.write("index.html", "mounted")
    try files.write("_/index.html", "hidden by it")
    func configure(_ configuration: inout GatewayConfiguration) {
      configuration.publicDirectory = files.path
      configuration.mountedDirectories = [("/_/", pages.path)]
    }
    try withGateway(configure: configure) { gateway in
      let socket = try RawSocket(port: gateway.port)
      #expect(try socket.request("GET", "/").text == "<!doctype html>")
      #expect(try socket.request("GET", "/_/").text == "mounted")
      for path in ["/_/%2e%2e/\(pages.secretName)", "/_", "/_/none", "/_//etc/passwd"] {
        #expect(try socket.request("GET", path).status == 404, "\(path)")
      }
    }
  }

  @Test func `The root is index html, as are folders`() throws {
    try withFiles { files, socket in
      try files.write("docs/index.html", "docs")
      let response = try socket.request("GET", "/")
      #expect(response.status == 200)
      #expect(response.text == "<!doctype html>")
      #expect(response.headers["content-type"] == "text/html; charset=utf-8")
      #expect(response.headers["content-security-policy"] == "default-src 'self'")
      #expect(response.headers["x-content-type-options"] == "nosniff")
      #expect(try socket.request("GET", "/docs/").text == "docs")
      #expect(try socket.request("GET", "/docs").status == 404)
      #expect(try socket.request("GET", "/?query=1").text == "<!doctype html>")
    }
  }

  @Test(arguments: [
    ("a.html", "text/html; charset=utf-8"), ("a.css", "text/css; charset=utf-8"),
    ("a.js", "text/javascript; charset=utf-8"), ("a.mjs", "text/javascript; charset=utf-8"),
    ("a.json", "application/json"), ("a.svg", "image/svg+xml"), ("a.png", "image/png"), ("a.ico", "image/x-icon"),
    ("a.woff2", "font/woff2"), ("a.webmanifest", "application/manifest+json"), ("a.txt", "text/plain; charset=utf-8"),
    ("a.js.map", "application/json"), ("a.d.ts", "text/plain; charset=utf-8"), ("a.xyz", "application/octet-stream"),
  ])
  func `Files have their type`(name: String, type: String) throws {
    try withFiles { files, socket in
      try files.write("sub/" + name, "content")
      let response = try socket.request("GET", "/sub/" + name)
      #expect(response.headers["content-type"] == type)
      #expect(response.text == "content")
    }
  }

  @Test func `A file that the client has is not sent again, until it changes`() throws {
    try withFiles { files, socket in
      let tag = try #require(try socket.request("GET", "/").headers["etag"])
      for known in [tag, "\"x\", W/\(tag)", "*"] {
        let response = try socket.request("GET", "/", headers: ["If-None-Match: \(known)"])
        #expect(response.status == 304)
        #expect(response.body.isEmpty)
        #expect(response.headers["etag"] == tag)
      }
      try files.write("index.html", "changed")
      #expect(try socket.request("GET", "/", headers: ["If-None-Match: \(tag)"]).text == "changed")
    }
  }

  @Test func `HEAD tells the length`() throws {
    try withFiles { _, socket in
      let response = try socket.request("HEAD", "/index.html")
      #expect(response.status == 200)
      #expect(response.headers["content-length"] == "15")
      #expect(try socket.request("GET", "/index.html").text == "<!doctype html>")
    }
  }

  @Test func `Other methods are answered 405`() throws {
    try withFiles { _, socket in
      let response = try socket.request("POST", "/index.html", body: "x")
      #expect(response.status == 405)
      #expect(response.headers["allow"] == "GET, HEAD")
    }
  }

  @Test func `What is not there is a problem with the static headers`() throws {
    try withFiles { _, socket in
      let response = try socket.request("GET", "/nothing.html")
      #expect(response.status == 404)
      #expect(response.headers["content-type"] == "application/problem+json")
      #expect(response.headers["x-content-type-options"] == "nosniff")
      #expect(response.text == #"{"type":"about:blank","title":"Not Found","status":404,"code":"not_found"}"#)
    }
  }

  @Test(arguments: ["/nothing.js", "/a/b.MJS", "/freshet.min.js"])
  func `A script that is not there is none that does something else`(path: String) throws {
    try withFiles { _, socket in
      let response = try socket.request("GET", path)
      #expect(response.status == 404)
      #expect(response.headers["content-type"] == "text/javascript; charset=utf-8")
      #expect(response.headers["x-content-type-options"] == "nosniff")
      #expect(response.text.hasPrefix("throw new Error(\"404: "))
    }
  }

  @Test func `Nothing outside the directory is served, and nothing hidden`() throws {
    try withFiles { files, socket in
      try files.write(".env", "hidden")
      try files.write(".git/config", "hidden")
      try files.write("sub/.hidden/x.txt", "hidden")
      // A dot with an accent on it.
      try files.write(".\u{301}env", "hidden")
      let manager = FileManager.default
      try manager.createSymbolicLink(atPath: files.path + "/passwd.txt", withDestinationPath: "/etc/passwd")
      try manager.createSymbolicLink(atPath: files.path + "/up", withDestinationPath: "..")
      try manager.createSymbolicLink(atPath: files.path + "/open.txt", withDestinationPath: ".env")
      let secret = files.secretName
      for path in [
        "/../\(secret)", "/sub/../../\(secret)", "/%2e%2e/\(secret)", "/..%2f\(secret)", "/%2e%2e%2f\(secret)",
        "/up/\(secret)", "/passwd.txt", "/open.txt", "/.env", "/%2eenv", "/.%CC%81env", "/.git/config",
        "/sub/.hidden/x.txt",
        "//etc/passwd", "/..\\\(secret)", "/sub", "/index.html/", "/%252e%252e/\(secret)",
      ] {
        let response = try socket.request("GET", path)
        #expect(response.status == 404, "\(path)")
      }
    }
  }

  @Test func `A link inside the directory is followed`() throws {
    try withFiles { files, socket in
      try FileManager.default.createSymbolicLink(atPath: files.path + "/start.html", withDestinationPath: "index.html")
      #expect(try socket.request("GET", "/start.html").text == "<!doctype html>")
    }
  }

  @Test func `Without a public directory everything is 404`() throws {
    try withGateway { gateway in
      let response = try RawSocket(port: gateway.port).request("GET", "/")
      #expect(response.status == 404)
    }
  }
}
