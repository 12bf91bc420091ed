/// The HTTP routes: protocol 4.
package enum Route: String, CaseIterable, Sendable {
  case getSnapshot = "GET /v1/snapshot"
  case postSnapshot = "POST /v1/snapshot"
  case getSubscription = "GET /v1/subscriptions"
  case getChanges = "GET /v1/changes"
  case getQueries = "GET /v1/queries"
  /// The braces stand for one part of a path.
  case getPublishedQuery = "GET /v1/queries/{name}"
  case getStatements = "GET /v1/statements"
  case postTransaction = "POST /v1/transactions"
  case getExplanation = "GET /v1/explain"
  case getSchema = "GET /v1/schema"
  case getServer = "GET /v1/server"
  case getDatabases = "GET /v1/databases"
  case postDatabase = "POST /v1/databases"
  case deleteDatabase = "DELETE /v1/databases"
  case getClientFile = "GET /v1/client/{file}"
  case getHealth = "GET /healthz"
  case getReadiness = "GET /readyz"
  case getMetrics = "GET /metrics"
  case getMetricsHistory = "GET /metrics/history"
  case getOpenAPI = "GET /openapi.json"
  case getAsyncAPI = "GET /asyncapi.json"

  package var method: String { String(rawValue.prefix { $0 != " " }) }
  package var path: String { String(rawValue.drop { $0 != " " }.dropFirst()) }

  /// Prefixes of the paths that are not files.
  static let prefixes = ["/v1/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/asyncapi.json"]

  /// Whether the route belongs to one database.
  var isOfDatabase: Bool {
    switch self {
    case .getDatabases, .postDatabase, .deleteDatabase, .getClientFile, .getHealth, .getReadiness, .getMetrics,
      .getMetricsHistory,
      .getOpenAPI, .getAsyncAPI:
      false
    default: true
    }
  }

  /// Whether an answer at this path belongs to an epoch.
  static func isAPI(_ path: String) -> Bool { path.hasPrefix("/v1/") && !path.hasPrefix("/v1/client/") }

  /// Paths that `metricsAddress` may serve at an address of their own.
  static let metricsPrefixes = ["/healthz", "/readyz", "/metrics"]
  /// The routes at `metricsPrefixes`.
  static let ofMetrics: Set<Route> = [.getHealth, .getReadiness, .getMetrics, .getMetricsHistory]

  /// The routes at a path, each of another method, and the part of the path that stands for the braces; "" without.
  static func at(_ path: String) -> (routes: [Route], name: String) {
    let routes = allCases.filter { $0.path == path }
    if !routes.isEmpty { return (routes, "") }
    for route in [getPublishedQuery, getClientFile] {
      let start = route.path.prefix { $0 != "{" }
      let name = path.dropFirst(start.count)
      if path.hasPrefix(start), !name.isEmpty, !name.contains("/") { return ([route], String(name)) }
    }
    return ([], "")
  }
}
