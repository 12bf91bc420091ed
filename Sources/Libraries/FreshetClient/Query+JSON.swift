package import FreshetResults
import LiveQuery
package import Wire

extension FreshetResults.Query {
  /// A query as it stands in messages: protocol 2.
  ///
  /// - Throws: `bad_message` and `bad_query`, as a server does.
  package init(json: JSONValue) throws(FreshetError) {
    switch try QuerySource(json: json) {
    case .published(let name, let parameters): self.init(published: name, parameters: .init(parameters))
    case .adHoc(let query): self.init(query)
    }
  }

  private init(_ query: LiveQuery.Query) {
    self.init(
      from: query.from, select: query.select, where: query.filter, parameters: .init(query.parameters),
      groupBy: query.groupBy, having: query.having, orderBy: query.orderBy,
      sectionBy: query.sectionBy.map {
        SectionBy($0.expression, isDescending: $0.isDescending, name: $0.name, indexTitle: $0.indexTitle)
      },
      limit: query.limit, key: query.key,
      alongside: Dictionary(query.alongside.map { ($0.name, $0.sql) }) { $1 }, refreshEvery: query.refreshEvery)
  }
}

extension FreshetResults.Query.Parameters {
  fileprivate init(_ parameters: LiveQuery.Query.Parameters) {
    switch parameters {
    case .none: self = [:]
    case .named(let values): self = .named(values)
    case .positional(let values): self = .positional(values)
    }
  }
}
