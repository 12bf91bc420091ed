import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Queries that the operator has published.
@Suite struct PublishedQueryTests {
  private static let schema = """
    CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT, assets REAL);
    INSERT INTO bank VALUES (1, 'One', 'GA', 1.5), (2, 'Two', 'FL', 2), (3, 'Three', 'GA', 3), (4, 'Four', NULL, 4);
    """
  private static let yaml = """
    queries:
      banks:
        description: Banks of one state
        query: { from: bank, select: [name], where: "state = :state", orderBy: [id] }
        parameters: { state: { type: text, default: GA, description: Postal code } }
      large:
        query: { from: bank, select: [name], where: "assets >= :least AND id <> :not" }
        parameters: { least: { type: real }, not: { type: integer, default: 0 } }
      typed:
        query: { from: bank, where: "typeof(:v) = 'nothing'", select: ["1 AS one"], limit: 1 }
        parameters: { v: { type: any } }
      flag:
        query: { from: bank, select: [name], where: "(state IS NULL) = :null" }
        parameters: { "null": { type: boolean } }
      mark:
        query: { from: bank, select: [name], where: "CAST(name AS BLOB) = :mark" }
        parameters: { mark: { type: blob } }
      maybe:
        query: { from: bank, select: [name], where: "state IS :state" }
        parameters: { state: { type: text, default: null } }
      states:
        query: { sql: "SELECT DISTINCT state, lower(state) AS name FROM bank WHERE state >= :least ORDER BY 1 -- all\n;" }
        parameters: { least: { type: text, default: A } }
      broken:
        query: { from: nosuch }
    """

  private func serve(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws -> LiveServer {
    let queries = PublishedQueries(try ConfigurationFile(yaml: Self.yaml, name: "x").queries)
    return try LiveServer(Self.schema) {
      $0.access.queries = queries
      $0.access.allowsAdHocQueries = false
      configure(&$0)
    }
  }

  /// A path below /v1/queries/, and the second column of each row, or the problem.
  @Test(arguments: [
    ("banks", "One Three"), ("banks?param.state=FL", "Two"), ("banks?param.state=xx", ""),
    ("banks?param.state=GA&limit=1&offset=1", "Three"), ("banks?param.state=", ""),
    ("states", "fl ga"), ("states?param.least=G", "ga"),
    ("large?param.least=2", "Two Three Four"), ("large?param.least=2.5&param.not=3", "Four"),
    ("large", "400 bad_query: the parameter least is missing"),
    ("large?param.least=x", "400 bad_query: the parameter least must be a number"),
    ("large?param.least=1&param.not=1.5", "400 bad_query: the parameter not must be an integer"),
    ("large?param.least=1&param.other=1", "400 bad_query: the query large has no parameter \"other\""),
    ("flag?param.null=true", "Four"), ("flag?param.null=0", "One Two Three"),
    ("flag?param.null=maybe", "400 bad_query: the parameter null must be true or false"),
    ("mark?param.mark=VHdv", "Two"),
    ("mark?param.mark=_", "400 bad_query: the parameter mark must be a BLOB: {\"$blob\": \"base64\"}, in a URL base64"),
    ("maybe", "Four"), ("maybe?param.state=FL", "Two"),
    ("banks?from=bank", "400 bad_query: there is no parameter \"from\""),
    ("banks?name=large", "400 bad_query: there is no parameter \"name\""),
    ("banks?minInterval=1", "400 bad_query: there is no parameter \"minInterval\""),
    ("nosuch", "404 not_found: there is no published query \"nosuch\""), ("broken", "400 no_such_table"),
    ("banks/x", "404 not_found: there is nothing at /v1/queries/banks/x"),
  ])
  func `The path names a query, the URL its parameters`(path: String, expected: String) throws {
    let live = try serve()
    let response = try live.http("GET", "/v1/queries/\(path)")
    let json = try JSONParser.parse(response.body)
    if response.status == 200 {
      #expect(try json.list("rows").map { try $0.required("name").text() }.joined(separator: " ") == expected)
      #expect(response.headers["etag"] == "\"\(try json.required("version").text())\"")
    } else {
      let problem = "\(response.status) \(try json.required("code").text()): \(try json.required("detail").text())"
      #expect(problem.hasPrefix(expected), "\(problem)")
    }
    live.stop()
  }

  @Test func `The list has names and parameters, and no SQL`() throws {
    let live = try serve()
    let response = try live.http("GET", "/v1/queries")
    let queries = try JSONParser.parse(response.body).list("queries")
    #expect(
      queries.map { $0["name"]?.short ?? "" } == [
        "'banks'", "'broken'", "'flag'", "'large'", "'mark'", "'maybe'", "'states'", "'typed'",
      ])
    #expect(
      queries[0].short
        == "{description:'Banks of one state' name:'banks' parameters:"
        + "[{default:'GA' description:'Postal code' name:'state' required:false type:'text'}]}")
    #expect(queries[3]["parameters"]?.short.contains("{name:'least' required:true type:'real'}") == true)
    #expect(queries[5]["parameters"]?.short == "[{default:null name:'state' required:false type:'text'}]")
    #expect(!response.text.contains("SELECT") && !response.text.contains("assets"))
    live.stop()
  }

  /// The `query` of a message, and the rows or the error.
  @Test(arguments: [
    (#"{"name":"banks"}"#, "''/: 1,'One' 3,'Three'"),
    (#"{"name":"banks","params":{"state":"FL"}}"#, "''/: 2,'Two'"),
    (#"{"name":"large","params":{"least":2,"not":3.0}}"#, "''/: 2,'Two' 4,'Four'"),
    (#"{"name":"flag","params":{"null":true}}"#, "''/: 4,'Four'"),
    (#"{"name":"mark","params":{"mark":{"$blob":"VHdv"}}}"#, "''/: 2,'Two'"),
    (#"{"name":"maybe","params":{"state":null}}"#, "''/: 4,'Four'"),
    (#"{"name":"banks","params":{"state":5}}"#, "'bad_query' 'the parameter state must be text'"),
    (#"{"name":"banks","params":{"state":null}}"#, "'bad_query' 'the parameter state must be text'"),
    (#"{"name":"flag","params":{"null":2}}"#, "'bad_query' 'the parameter null must be true or false'"),
    (#"{"name":"large"}"#, "'bad_query' 'the parameter least is missing'"),
    (#"{"name":"banks","params":{"x":1}}"#, "'bad_query' 'the query banks has no parameter \"x\"'"),
    (
      #"{"name":"banks","params":["GA"]}"#,
      "'bad_query' 'the parameters of what is published have names: give an object'"
    ),
    (#"{"name":"nosuch"}"#, "'bad_query' 'there is no published query \"nosuch\"'"),
    (#"{"from":"bank"}"#, "'not_allowed' 'this server answers published queries only: see /v1/queries'"),
  ])
  func `A subscription names a query`(query: String, expected: String) throws {
    let live = try serve()
    let client = try live.connect()
    try client.subscribe("q", query)
    #expect(client.line("q") == expected)
    live.stop()
  }

  @Test func `A published query is followed over sockets and streams alike`() throws {
    let live = try serve()
    let client = try live.connect()
    try client.subscribe("q", #"{"name":"banks","params":{"state":"FL"}}"#)
    let stream = try EventClient(port: live.server.port, "/v1/subscriptions?name=banks&param.state=FL")
    try stream.load()
    try live.writer.run("UPDATE bank SET state = 'FL' WHERE id = 1")
    while stream.line != "1,'One' 2,'Two'" { try stream.next() }
    try client.catchUp(["q"])
    #expect(client.line("q") == "''/: 1,'One' 2,'Two'")
    live.stop()
  }

  @Test(arguments: [
    ("GET", "/v1/snapshot?from=bank"), ("GET", "/v1/subscriptions?from=bank"), ("GET", "/v1/explain?from=bank"),
    ("GET", "/v1/explain?name=banks"), ("GET", "/v1/schema"), ("POST", "/v1/snapshot"),
  ])
  func `Where only published queries are answered, nothing else is told`(method: String, target: String) throws {
    let live = try serve()
    let body = method == "POST" ? #"{"query":{"from":"bank"}}"# : nil
    let response = try live.http(method, target, body: body)
    #expect(response.status == 403 && response.text.contains("\"code\":\"not_allowed\""), "\(response.text)")
    let named = try live.http("POST", "/v1/snapshot", body: #"{"query":{"name":"banks"},"shape":"arrays"}"#)
    #expect(named.status == 200 && named.text.contains("\"rows\":[[1,\"One\"],[3,\"Three\"]]"))
    live.stop()
  }
}
