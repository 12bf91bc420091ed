import Foundation
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// `/openapi.json` matches the server's behavior.
@Suite struct OpenAPITests {
  private static let schema = """
    CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT, photo BLOB, assets);
    INSERT INTO bank VALUES (1, 'One', 'GA', x'0102', 9223372036854775807), (2, 'Two', NULL, NULL, 1.5);
    CREATE VIEW v AS SELECT * FROM bank;
    """
  private static let yaml = """
    queries:
      banks:
        description: Banks
        query: { from: bank, where: "state IS :state" }
        parameters: { state: { type: text, default: GA, description: x }, }
      flags:
        query: { from: bank, where: ":flag AND :mark IS NOT NULL" }
        parameters: { flag: { type: boolean, default: true }, mark: { type: blob } }
    """

  private func serve() throws -> LiveServer {
    let queries = PublishedQueries(try ConfigurationFile(yaml: Self.yaml, name: "x").queries)
    return try LiveServer(Self.schema) {
      $0.access.queries = queries
      $0.access.allowsWrites = true
    }
  }

  private func document(_ live: LiveServer) throws -> (json: JSONValue, schema: JSONSchema) {
    let json = try JSONParser.parse(try live.http("GET", "/openapi.json").body)
    return (json, JSONSchema(root: json))
  }

  @Test func `Every route is in the document, and every route of the document is there`() throws {
    let live = try serve()
    let paths = try #require(try document(live).json["paths"]?.members)
    let described = paths.flatMap { path, item in
      (item.members ?? [:]).keys.map { "\($0.uppercased()) \(path)" }
    }
    #expect(Set(described) == Set(Route.allCases.map(\.rawValue)))
    live.stop()
  }

  /// A request for each route; and for routes that can fail, one that fails.
  private static let requests: [(route: Route, target: String, body: String?, status: Int)] = [
    (.getSnapshot, "/v1/snapshot?from=bank", nil, 200),
    (.getSnapshot, "/v1/snapshot?from=bank&sectionBy=state&shape=arrays", nil, 200),
    (.getSnapshot, "/v1/snapshot?from=nosuch", nil, 400), (.getSnapshot, "/v1/snapshot?from=sqlite_master", nil, 403),
    (.postSnapshot, "/v1/snapshot", #"{"query":{"from":"bank","alongside":{"n":"SELECT count(*) FROM bank"}}}"#, 200),
    (.postSnapshot, "/v1/snapshot", "{", 400),
    (.getSubscription, "/v1/subscriptions?nosuch=1", nil, 400), (.getChanges, "/v1/changes?nosuch=1", nil, 400),
    (.getQueries, "/v1/queries", nil, 200),
    (.getPublishedQuery, "/v1/queries/banks?param.state=GA", nil, 200),
    (.getPublishedQuery, "/v1/queries/nosuch", nil, 404),
    (.postTransaction, "/v1/transactions", #"{"statements":[{"sql":"DELETE FROM bank WHERE id = 9"}]}"#, 200),
    (.postTransaction, "/v1/transactions", #"{"statements":[{"sql":"SELECT 1 AS one"}]}"#, 200),
    (.getStatements, "/v1/statements", nil, 200),
    (.postTransaction, "/v1/transactions", #"{"statements":[{"sql":"DROP TABLE bank"}]}"#, 403),
    (.getExplanation, "/v1/explain?from=bank&where=state%3D'GA'", nil, 200),
    (.getExplanation, "/v1/explain?from=v&key=id", nil, 200), (.getExplanation, "/v1/explain", nil, 400),
    (.getSchema, "/v1/schema", nil, 200), (.getServer, "/v1/server", nil, 200),
    (.getDatabases, "/v1/databases", nil, 200),
    (.postDatabase, "/v1/databases", #"{"name":"a"}"#, 403), (.deleteDatabase, "/v1/databases?name=a", nil, 403),
    (.getHealth, "/healthz", nil, 200),
    (.getReadiness, "/readyz", nil, 200), (.getMetricsHistory, "/metrics/history", nil, 200),
    (.getOpenAPI, "/openapi.json", nil, 200), (.getAsyncAPI, "/asyncapi.json", nil, 200),
  ]

  @Test func `What the server answers is as described`() throws {
    let live = try serve()
    let (json, schema) = try document(live)
    for (route, target, body, status) in Self.requests {
      let response = try live.http(route.method, target, body: body)
      #expect(response.status == status, "\(target): \(response.text)")
      let operation = try json.required("paths").required(route.path).required(route.method.lowercased())
      let responses = try operation.required("responses")
      let described = try schema.resolved(try responses[String(status)] ?? responses.required("default"))
      let type = try #require(response.headers["content-type"])
      let content = try described.required("content").required(type).required("schema")
      let faults = try schema.faults(of: try JSONParser.parse(response.body), content)
      #expect(faults.isEmpty, "\(target): \(faults)")
    }
    let texts: Set<Route> = [.getMetrics, .getClientFile]
    #expect(Set(Self.requests.map(\.route)).union(texts) == Set(Route.allCases))
    live.stop()
  }

  @Test func `HEAD is answered wherever GET is, without a body`() throws {
    let live = try serve()
    for (route, target, _, status) in Self.requests where route.method == "GET" {
      let socket = try RawSocket(port: live.server.port)
      try socket.write("HEAD \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      let response = try socket.readResponse(bodyless: true)
      #expect(response.status == status && response.headers["content-type"] != nil, "\(target)")
      #expect(try socket.readToEnd().isEmpty, "\(target)")
    }
    live.stop()
  }

  @Test func `Every parameter that is described is known`() throws {
    let live = try serve()
    let (json, schema) = try document(live)
    for (path, item) in try json.required("paths").members ?? [:] {
      for parameter in try item["get"]?.list("parameters").map(schema.resolved) ?? [] {
        guard parameter["in"] == .string("query"), parameter["explode"] == nil else { continue }
        let name = try parameter.required("name").text()
        let example =
          switch try parameter.required("example") {
          case .string(let text): text
          case .integer(let number): String(number)
          default: ""
          }
        let value = try #require(example.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let target = path.replacing("{name}", with: "banks") + "?\(name)=\(value)"
        #expect(try !live.http("HEAD", target).text.contains("there is no parameter"), "\(target)")
        let response = try live.http("GET", target + "&nosuch=1")
        #expect(response.text.contains("there is no parameter \\\"nosuch\\\""), "\(target): \(response.text)")
      }
    }
    live.stop()
  }

  @Test func `References lead somewhere`() throws {
    let live = try serve()
    for path in ["/openapi.json", "/asyncapi.json"] {
      let json = try JSONParser.parse(try live.http("GET", path).body)
      let schema = JSONSchema(root: json)
      for reference in json.references { #expect(throws: Never.self) { try schema.resolve(reference) } }
    }
    live.stop()
  }
}

extension JSONValue {
  /// Every `$ref` in it.
  fileprivate var references: [String] {
    switch self {
    case .array(let elements): elements.flatMap(\.references)
    case .object(let members):
      members.flatMap { name, value in
        if name == "$ref", case .string(let text) = value { return [text] }
        return value.references
      }
    default: []
    }
  }
}
