import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// `/v1/server`: the lists that are open.
@Suite struct ServerDescriptionTests {
  private static let schema = """
    CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT, county TEXT);
    INSERT INTO well VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'y');
    """

  @Test func `Open lists are listed with those who share them, and without their values`() throws {
    let live = try LiveServer(Self.schema)
    let query = #"{"from":"well","where":"name > :secret","params":{"secret":"?"},"sectionBy":"county"}"#
    let (one, other) = (try live.connect(), try live.connect())
    try one.subscribe("a", query)
    try other.subscribe("b", query)
    try other.subscribe("c", #"{"from":"well","select":["name","count(*) OVER () AS n"],"orderBy":["name"]}"#)
    try one.catchUp(["a"])
    try other.catchUp(["b", "c"])
    let response = try live.http("GET", "/v1/server")
    #expect(response.status == 200 && response.headers["cache-control"] == "no-store")
    let json = try JSONParser.parse(response.body)
    #expect(json["subscriptions"] == .integer(3) && json["connections"] == .integer(2))
    let lists = try json.list("lists")
    #expect(lists.map { $0["subscriptions"] } == [.integer(2), .integer(1)])
    #expect(lists[0]["rows"] == .integer(3) && lists[0]["sections"] == .integer(2))
    #expect(lists.map { $0["maintenance"] } == [.string("incremental"), .string("refetch")])
    #expect(lists[0]["query"]?.short == "{from:'well' sectionBy:'county' where:'name > :secret'}")
    #expect(lists[1]["reason"]?.short.contains("run again") == true && lists[1]["tables"]?.short == "['well']")
    #expect(!response.text.contains("\"?\"") && json["listsLeftOut"] == .integer(0))
    live.stop()
  }

  @Test func `Where there are roles, or only published queries, it is refused`() throws {
    let roles = try ConfigurationFile(yaml: "roles: { anonymous: { tables: { well: }, queries: any } }", name: "x")
      .roles
    let restricted = try LiveServer(Self.schema) { $0.access.roles = roles }
    #expect(try restricted.http("GET", "/v1/server").status == 403)
    restricted.stop()
    let published = try LiveServer(Self.schema) { $0.access.allowsAdHocQueries = false }
    #expect(try published.http("GET", "/v1/server").status == 403)
    published.stop()
  }
}
