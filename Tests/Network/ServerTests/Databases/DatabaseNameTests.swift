import Foundation
import LiveQuery
import TestSupport
import Testing

@testable import Server

/// Names that clients send, and the files that they name.
@Suite struct DatabaseNameTests {
  @Test(arguments: ["a", "acme", "tenants/acme", "Bücher 2", "a.b", "a..b", "x-wal", "名前", "a/b/c", "1"])
  func `Is a name`(_ text: String) { #expect(DatabaseName(text)?.description == text) }

  @Test(arguments: [
    "", "/", "a/", "/a", "a//b", ".", "..", "../a", "a/../b", "a/.", ".hidden", "a/.b", "a\\b", "a\0b", "a\nb",
    "\u{7f}",
    "a\u{202e}b", "a\u{FFFD}", String(repeating: "a", count: 600), String(repeating: "a", count: 241),
  ])
  func `Is no name`(_ text: String) { #expect(DatabaseName(text) == nil) }

  @Test func `Two spellings of a letter are two names`() throws {
    for (one, other) in [("\u{e4}", "a\u{308}"), ("A", "a")] { #expect(try name(one) != name(other)) }
  }

  @Test(arguments: [
    ("/v1/live", nil, "/v1/live"), ("/db/a/v1/live", "a", "/v1/live"), ("/db/a/b/v1/live", "a/b", "/v1/live"),
    ("/db/a/v1/b/v1/queries/x", "a/v1/b", "/v1/queries/x"), ("/db/a", "a", ""), ("/db/a/", "a", "/"),
    ("/db/a/metrics", "a", "/metrics"), ("/db/", "", ""), ("/db//v1/live", "", "/v1/live"),
    ("/db/a/b/_/", "a/b", "/_/"), ("/db/a/_/app.min.js", "a", "/_/app.min.js"), ("/_/", nil, "/_/"),
    ("/dba/v1/x", nil, "/dba/v1/x"),
  ]) func `A path names a database and a route`(_ path: String, _ name: String?, _ route: String) {
    let parsed = DatabasePath(path)
    #expect(parsed.name == name && parsed.route == route)
  }

  // MARK: - Files

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func make(_ names: String...) throws {
    for name in names {
      let path = folder.path(name)
      try FileManager.default.createDirectory(
        at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: URL(fileURLWithPath: path))
    }
  }

  private func name(_ text: String) throws -> DatabaseName { try #require(DatabaseName(text)) }

  @Test func `A folder has files with four endings, in folders too, and nothing that is hidden or a link`() throws {
    try make(
      "a.sqlite", "b.sqlite3", "in/c.db", "in/deep/d.db3", "e.txt", ".f.db", ".g/h.db", "a.sqlite-wal", "i.db-journal")
    try make("../outside-\(UUID().uuidString).db")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link.db"), withDestinationPath: folder.path("a.sqlite"))
    try FileManager.default.createSymbolicLink(atPath: folder.path("linked"), withDestinationPath: folder.path("in"))
    let places = try DatabasePlaces([folder.path("")])
    #expect(places.names.map(\.description) == ["a", "b", "in/c", "in/deep/d"])
    #expect(places.path(of: try name("in/c")) == folder.path("in/c.db"))
    for other in ["link", "linked/c", "e", "e.txt", "a.sqlite-wal", "in", "c", "A"] {
      #expect(places.path(of: try name(other)) == nil, "\(other)")
    }
    #expect(places.only == nil)
    try FileManager.default.removeItem(atPath: folder.path("b.sqlite3"))
    #expect(places.path(of: try name("b")) == nil)
    try make("z.db")
    #expect(places.path(of: try name("z")) == folder.path("z.db"))
  }

  @Test func `Of files that differ in their ending alone, the first has the name`() throws {
    try make("a.db", "a.sqlite3")
    let places = try DatabasePlaces([folder.path("")])
    #expect(places.names.map(\.description) == ["a"])
    #expect(places.path(of: try name("a")) == folder.path("a.sqlite3"))
    #expect(places.only == (try name("a")))
  }

  @Test func `Patterns and files by themselves`() throws {
    try make("t/a.data", "t/b.data", "t/c.db", "t/in/d.data", "one.sqlite")
    let places = try DatabasePlaces([folder.path("t/*.data"), folder.path("one.sqlite")])
    #expect(places.names.map(\.description) == ["a", "b", "one"])
    #expect(places.path(of: try name("b")) == folder.path("t/b.data"))
    for other in ["c", "in/d"] { #expect(places.path(of: try name(other)) == nil) }
    #expect(places.path(of: try name("one")) == folder.path("one.sqlite"))
    #expect(DatabasePlaces.areSeveral([folder.path("t/*.data")]) && DatabasePlaces.areSeveral([folder.path("t")]))
    #expect(!DatabasePlaces.areSeveral([folder.path("one.sqlite")]) && !DatabasePlaces.areSeveral(["/nowhere/x.db"]))
    #expect(throws: ServerError.self) { try DatabasePlaces([folder.path("none/*.db")]) }
    try make("other/one.db")
    #expect(throws: ServerError.self) { try DatabasePlaces([folder.path("one.sqlite"), folder.path("other/one.db")]) }
  }

  @Test func `A template makes names of claims, and nothing that leads to another folder`() throws {
    let template = try #require(TenantTemplate("tenants/{claims.org}"))
    func tenant(_ claims: [String: SQLValue]) -> String? {
      template.name(for: Identity(subject: "s", role: "r", claims: claims, expires: nil))?.description
    }
    #expect(tenant(["org": .text("acme")]) == "tenants/acme" && tenant(["org": .integer(7)]) == "tenants/7")
    for bad in ["", "a/b", "..", ".", "../x", "a\0", ".x", "a\\b"] {
      #expect(tenant(["org": .text(bad)]) == nil, "\(bad)")
    }
    #expect(tenant([:]) == nil && tenant(["org": .null]) == nil && tenant(["org": .real(1)]) == nil)
    for bad in ["acme", "{org}", "{claims.}", "{claims.org", "claims.org}", "{}"] {
      #expect(TenantTemplate(bad) == nil, "\(bad)")
    }
  }
}
