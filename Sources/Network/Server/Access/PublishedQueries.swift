import LiveQuery
import Wire

/// The queries that the operator has published, by name.
package struct PublishedQueries: Sendable {
  /// Sorted by name.
  package private(set) var list: [PublishedQuery] = []

  package init(_ queries: [PublishedQuery] = []) {
    list = queries.sorted { $0.name < $1.name }
  }

  /// - Throws: an error with the given code if no query has the name.
  func find(_ name: String, orThrow code: ErrorCode) throws(FreshetError) -> PublishedQuery {
    guard let query = list.first(where: { $0.name == name }) else {
      throw FreshetError(code, "there is no published query \"\(name.prefix(64))\"")
    }
    return query
  }

  /// The answer to `GET /v1/queries`: names and parameters, no SQL.
  func listing(for permissions: Permissions) -> [UInt8] {
    JSONWriter.listing("queries", list.filter(permissions.mayAsk).map { ($0.name, $0.description, $0.parameters) })
  }
}

extension JSONWriter {
  /// Names and parameters of published queries or statements.
  static func listing(
    _ member: StaticString, _ published: [(name: String, description: String?, parameters: [PublishedParameter])]
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.name(member)
      object.array { array in
        for (name, description, parameters) in published {
          array.object { object in
            object.member("name", name)
            if let description { object.member("description", description) }
            object.name("parameters")
            object.array { array in
              for parameter in parameters { array.write(parameter) }
            }
          }
        }
      }
    }
    return writer.bytes
  }

  private mutating func write(_ parameter: PublishedParameter) {
    object { object in
      object.member("name", parameter.name)
      object.member("type", parameter.type.rawValue)
      object.member("required", parameter.defaultValue == nil)
      switch (parameter.type, parameter.defaultValue) {
      case (_, nil): break
      case (.boolean, .integer(let value)): object.member("default", value != 0)
      case (_, let value?):
        object.name("default")
        object.value(value)
      }
      if let description = parameter.description { object.member("description", description) }
    }
  }
}
