package import LiveQuery

/// A query that the operator has published under a name, with the parameters that clients may give.
package struct PublishedQuery: Sendable {
  package var name: String
  package var description: String?
  /// Without parameters.
  package var query: Query
  /// Sorted by name.
  package var parameters: [PublishedParameter]
  /// Whether it reads all rows and columns, whatever the role may.
  package var isUnfiltered = false
  /// Whether it is opened when the server starts, and kept.
  package var isKept = false
}

extension PublishedQuery {
  /// The query with its parameters bound.
  ///
  /// - Throws: `bad_query`, naming the parameter that is missing, unknown, or of another type.
  func bound(to arguments: PublishedArguments) throws(FreshetError) -> Query {
    let values = try arguments.values(for: parameters, of: "the query \(name)")
    var query = query
    query.parameters = .named(values)
    return query
  }

  /// The query with an example value for each parameter, to check that it is valid.
  package var sample: Query {
    var query = query
    let values = parameters.map { ($0.name, $0.defaultValue ?? .null) }
    query.parameters = .named(Dictionary(uniqueKeysWithValues: values))
    return query
  }
}
