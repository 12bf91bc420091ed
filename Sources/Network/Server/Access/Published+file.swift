import LiveQuery
import Wire
import Yams

// Published queries and statements of a configuration file.
extension PublishedQuery {
  init(_ name: String, _ place: YAMLPlace) throws(ServerError) {
    try place.checkPublishedName(name)
    self.init(name: name, description: nil, query: Query(from: ""), parameters: [])
    var parameterPlaces: [(name: String, value: YAMLPlace)] = []
    var hasQuery = false
    for (name, value) in try place.members() {
      switch name {
      case "description": description = try value.text()
      case "query":
        query = try PublishedQuery.query(value)
        hasQuery = true
      case "parameters": parameterPlaces = try value.members()
      case "unfiltered": isUnfiltered = try value.boolean()
      case "open": isKept = try value.boolean()
      default:
        throw value.unknown(
          name, "a published query has", ["description", "query", "parameters", "unfiltered", "open"])
      }
    }
    guard hasQuery else { throw place.error("has no query") }
    parameters = try PublishedParameter.list(parameterPlaces)
    if isKept, let parameter = parameters.first(where: { $0.defaultValue == nil }) {
      throw place.error("is kept open, and \(parameter.name) has no value: give it a default")
    }
  }

  /// Unknown members are ignored in a client's query, and are an error in an operator's.
  private static func query(_ place: YAMLPlace) throws(ServerError) -> Query {
    for (name, value) in try place.members() where name == "params" || !Query.members.contains(name) {
      if name == "params" { throw value.error("is not for published queries: declare parameters") }
      throw value.unknown(name, nil, Array(Query.members), sentence: "is no part of a query")
    }
    let json = try place.json()
    do throws(FreshetError) { return try Query(json: json) } catch {
      throw place.error("is no query: \(error.message)")
    }
  }
}

extension PublishedStatement {
  init(_ name: String, _ place: YAMLPlace) throws(ServerError) {
    try place.checkPublishedName(name)
    self.init(name: name, description: nil, statements: [], parameters: [])
    var expectedChanges: Int?
    for (name, value) in try place.members() {
      switch name {
      case "description": description = try value.text()
      case "sql":
        for text in try value.textOrTexts() { statements.append(.init(sql: text, parameters: .none)) }
      case "parameters": parameters = try PublishedParameter.list(try value.members())
      case "expect": expectedChanges = try PublishedStatement.expectedChanges(value)
      default:
        throw value.unknown(name, "a published statement has", ["description", "sql", "parameters", "expect"])
      }
    }
    if statements.isEmpty { throw place.error("has no sql") }
    // With several statements, the number is checked for the last one; the others prepare it.
    statements[statements.count - 1].expectedChanges = expectedChanges
  }

  private static func expectedChanges(_ place: YAMLPlace) throws(ServerError) -> Int? {
    var changes: Int?
    for (name, value) in try place.members() {
      guard name == "changes" else { throw value.error("is unknown: what is expected is a number of changes") }
      guard let number = Int(try value.text()), number >= 0 else { throw value.error("must be a number of rows") }
      changes = number
    }
    return changes
  }
}

extension PublishedParameter {
  fileprivate static func list(
    _ places: [(name: String, value: YAMLPlace)]
  ) throws(ServerError) -> [PublishedParameter] {
    var list: [PublishedParameter] = []
    for (name, value) in places {
      if Query.Access.isClaim(name) { throw value.error("is named as a claim: those have their values from the token") }
      list.append(try PublishedParameter(name, value))
    }
    return list.sorted { $0.name < $1.name }
  }

  private init(_ name: String, _ place: YAMLPlace) throws(ServerError) {
    self.init(name: name, type: .any)
    var defaultPlace: YAMLPlace?
    for (name, value) in try place.members() {
      switch name {
      case "type":
        guard let type = ParameterType(rawValue: try value.text()) else {
          let types = ParameterType.allCases.map(\.rawValue).joined(separator: ", ")
          throw value.error("must be one of \(types)")
        }
        self.type = type
      case "default": defaultPlace = value
      case "description": description = try value.text()
      default:
        throw value.unknown(name, "a parameter has", ["type", "default", "description"])
      }
    }
    defaultValue = try defaultPlace?.value(of: type)
  }
}

extension YAMLPlace {
  /// - Throws: if the name cannot be part of a URL.
  fileprivate func checkPublishedName(_ name: String) throws(ServerError) {
    let isGood =
      (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "_-.".contains(character))
      }
    if !isGood { throw error("must be named with 1 to 64 letters, digits, _, - and .") }
  }
}

extension YAMLPlace {
  /// A value of a parameter's type.
  func value(of type: ParameterType) throws(ServerError) -> SQLValue {
    let scalar = try self.scalar()
    if scalar.isNull { return .null }
    if type == .any, !scalar.isPlain { return .text(scalar.string) }
    guard let value = type.value(text: scalar.string) else { throw error("must be of the type \(type.rawValue)") }
    return value
  }
}
