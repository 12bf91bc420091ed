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
    let (name, actor) = try managed(text, exchange, .make)
    databases.make(name, by: actor) { result in
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
    let (name, actor) = try managed(items[0].value, exchange, .remove)
    databases.remove(name, by: actor) { error in
      exchange.answer(error.map { .problem($0) } ?? HTTPAnswer(status: 204, headers: [], body: []))
    }
  }

  /// The name of a database that the client may make and remove, and what logs call the client. The access log names
  /// the database.
  private func managed(
    _ text: String, _ exchange: HTTPExchange, _ action: DatabaseAction
  ) throws(FreshetError) -> (DatabaseName, LogActor) {
    guard let name = DatabaseName(text) else { throw FreshetError(.badQuery, "this is no name of a database") }
    let actor = databases.access.actor(exchange.request.peer, exchange.identity, name)
    exchange.record?.identify(actor)
    guard databases.access.mayManage(name, exchange.identity) else {
      databases.noteRefused(name, action, by: actor)
      throw FreshetError(.notAllowed, "this client may neither make nor remove the database \(name)")
    }
    return (name, actor)
  }
}
