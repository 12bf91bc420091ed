/// A client's query: its own, or the name of a published one.
package enum QuerySource: Sendable {
  case adHoc(Query)
  case published(name: String, parameters: Query.Parameters)

  /// Stands for a missing query, if the token contains the query.
  package static let none = QuerySource.published(name: "", parameters: .none)

  package init(_ query: Query) {
    if let name = query.publishedName {
      self = .published(name: name, parameters: query.parameters)
    } else {
      self = .adHoc(query)
    }
  }
}
