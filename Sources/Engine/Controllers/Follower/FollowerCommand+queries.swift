import LiveQuery
import QueryCompiler

// Two queries are the same only if they read the same claims. Which claims a query reads depends on the schema's views.
extension Follower {
  /// The command with its query as this follower knows it.
  func narrowed(_ command: FollowerCommand) -> FollowerCommand {
    switch command {
    case .subscribe(var subscribe):
      subscribe.query = narrowed(subscribe.query)
      return .subscribe(subscribe)
    case .snapshot(var request):
      request.query = narrowed(request.query)
      return .snapshot(request)
    case .request(let key, .requery(let query, let window), let ticket):
      return .request(key, .requery(narrowed(query), window), ticket: ticket)
    case .keep(let query): return .keep(narrowed(query))
    case .abandon(let request, let query): return .abandon(request: request, of: narrowed(query))
    case .explain(let query, let request, let reply):
      return .explain(narrowed(query), request: request, reply: reply)
    default: return command
    }
  }

  private func narrowed(_ query: Query) -> Query {
    // If a role's rules are wrong, compiling the query reports it.
    return (try? roles.schema(for: query.access))?.narrowed(query) ?? query
  }
}
