import Gateway
import LiveQuery
import Wire

// The databases of a server that has several: protocol 4.0.
extension Routes {
  func getDatabases(_ exchange: HTTPExchange) {
    databases.list(for: exchange.identity) { exchange.answer(.json(DatabaseListing.json($0))) }
  }

  /// - Throws: `not_allowed`, `bad_query`.
  func postDatabase(_ exchange: HTTPExchange) throws(FreshetError) {
    guard case .object(let members) = try JSONValue(body: exchange.request.body), members.count == 1,
      case .string(let text)? = members["name"]
    else { throw FreshetError(.badMessage, "the body must be {\"name\": …}") }
    let name = try managed(text, exchange)
    databases.make(name) { result in
      switch result {
      case .success(let listing): exchange.answer(.json(listing.json, status: 201))
      case .failure(let error): exchange.answer(.problem(error))
      }
    }
  }

  /// - Throws: `not_allowed`, `bad_query`.
  func deleteDatabase(_ exchange: HTTPExchange) throws(FreshetError) {
    let items = QueryString(exchange.request.query).items
    guard items.count == 1, items[0].name == "name" else {
      throw FreshetError(.badQuery, "say which database: ?name=")
    }
    let name = try managed(items[0].value, exchange)
    databases.remove(name) { error in
      exchange.answer(error.map { .problem($0) } ?? HTTPAnswer(status: 204, headers: [], body: []))
    }
  }

  /// The name of a database that the client may make and remove. The access log names it.
  private func managed(_ text: String, _ exchange: HTTPExchange) throws(FreshetError) -> DatabaseName {
    guard let name = DatabaseName(text) else { throw FreshetError(.badQuery, "this is no name of a database") }
    exchange.record?.identify(databases.access.actor(exchange.request.peer, exchange.identity, name))
    guard databases.access.mayManage(name, exchange.identity) else {
      throw FreshetError(.notAllowed, "this client may neither make nor remove the database \(name)")
    }
    return name
  }
}
