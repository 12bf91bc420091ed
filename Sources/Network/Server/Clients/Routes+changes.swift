import Controllers
import Feed
import Gateway
import LiveQuery
import Wire

// The feed of changes: protocol 4.1.
extension Routes {
  func getChanges(
    _ exchange: HTTPExchange, _ database: ServedDatabase, _ clients: Clients
  ) throws(FreshetError) {
    var parameters = try ChangesParameters(QueryString(exchange.request.query))
    exchange.record?.note(database.doors.subject(of: RequestParameters.Source.adHoc(parameters.request.outline)))
    let access = try database.doors.permissions(of: exchange.identity).ownQueries()
    if parameters.since == nil, exchange.request.lastEventID?.isEmpty == false {
      parameters.since = exchange.request.lastEventID
    }
    try database.output.checkRoom()
    let form = exchange.request.wantsLines ? StreamForm.lines : .events
    guard let key = clients.admit(exchange, as: form, host: database.pool.feed) else { return }
    database.pool.feed.subscribe(.init(key: key, request: parameters.request, access: access, since: parameters.since))
  }
}

/// The parameters of a URL of the feed.
private struct ChangesParameters {
  var request = ChangesRequest()
  var since: String?

  /// - Throws: `bad_query` for an unknown parameter.
  init(_ string: QueryString) throws(FreshetError) {
    var columns: [String]?
    var filter: String?
    for (name, value) in string.items {
      switch name {
      case "table":
        request.tables = (request.tables ?? []) + value.split(separator: ",").map { ChangesParameters.trimmed($0) }
      case "columns": columns = value.split(separator: ",").map { ChangesParameters.trimmed($0) }
      case "where": filter = value
      case "since", "lastEventId": since = value.isEmpty ? nil : value
      default: throw FreshetError(.badQuery, "there is no parameter \"\(name.prefix(64))\"")
      }
    }
    if columns == nil, filter == nil { return }
    guard let table = request.tables?.first, request.tables?.count == 1 else {
      throw FreshetError(.badQuery, "columns and where are those of one table: name it with table=")
    }
    if let columns { request.columns = [table: columns] }
    if let filter { request.filters = [table: filter] }
    try request.check()
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

extension HTTPRequest {
  /// Whether the client prefers a JSON text a line to server-sent events.
  fileprivate var wantsLines: Bool { accept?.lowercased().contains("application/x-ndjson") == true }
}

extension ChangesRequest {
  /// For logs.
  var outline: Query {
    Query(from: (tables ?? ["*"]).joined(separator: ", "), where: filters.sorted { $0.key < $1.key }.first?.value)
  }
}
