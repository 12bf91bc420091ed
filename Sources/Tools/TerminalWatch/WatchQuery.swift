package import Wire

/// What a command line gives that makes no query.
package struct WatchQueryError: Error, CustomStringConvertible {
  /// One sentence for people.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The `query` of a subscription, put together from what a command line gives.
package struct WatchQuery {
  /// JSON, a whole SELECT, or a `from` fragment such as a table's name.
  package var query: String?
  /// The name of a published query.
  package var name: String?
  /// `NAME=VALUE`; a value that is written as a JSON number is one, else it is text, as in URLs.
  package var parameters: [String] = []
  /// Expressions; each may hold several, separated by commas.
  package var select: [String] = []
  package var filter: String?
  package var orderBy: [String] = []
  package var sectionBy: String?
  /// `NAME=EXPRESSION`.
  package var totals: [String] = []

  package init() {}

  /// - Throws: a sentence that says what is wrong.
  package func json() throws(WatchQueryError) -> JSONValue {
    var members = try source()
    let lists = [("select", select), ("orderBy", orderBy)]
    for (member, values) in lists where !values.isEmpty {
      members[member] = .array(values.flatMap(\.topLevelParts).map { .string($0) })
    }
    if let filter { members["where"] = .string(filter) }
    if let sectionBy { members["sectionBy"] = .string(sectionBy) }
    if !totals.isEmpty {
      var expressions =
        try members["totals"].map { (value) throws(WatchQueryError) in try Self.members(of: value) } ?? [:]
      for total in totals {
        let (name, expression) = try Self.pair(total, "--total takes NAME=EXPRESSION")
        expressions[name] = .string(expression)
      }
      members["totals"] = .object(expressions)
    }
    if !parameters.isEmpty {
      var values = try members["params"].map { (value) throws(WatchQueryError) in try Self.members(of: value) } ?? [:]
      for parameter in parameters {
        let (name, value) = try Self.pair(parameter, "--param takes NAME=VALUE")
        values[name] = Self.scalar(value)
      }
      members["params"] = .object(values)
    }
    return .object(members)
  }

  private static func pair(_ text: String, _ rule: String) throws(WatchQueryError) -> (name: String, value: String) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw WatchQueryError("\(rule), not \(text)")
    }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  private func source() throws(WatchQueryError) -> [String: JSONValue] {
    switch (query, name) {
    case (nil, nil): throw WatchQueryError("what to watch is missing: a query, a table or --name")
    case (.some, .some): throw WatchQueryError("give either a query or --name")
    case (nil, let name?): return ["name": .string(name)]
    case (let query?, nil):
      guard query.first(where: { !$0.isWhitespace }) == "{" else {
        return [Self.isSelect(query) ? "sql" : "from": .string(query)]
      }
      let value: JSONValue
      do throws(JSONError) { value = try JSONParser.parse(query) } catch {
        throw WatchQueryError("the query is not JSON: \(error.message), at byte \(error.offset)")
      }
      return try Self.members(of: value)
    }
  }

  /// Whether a text begins as a SELECT does. The words are no names, or no names that anything follows.
  private static func isSelect(_ text: String) -> Bool {
    let words = text.split(maxSplits: 1) { $0.isWhitespace || $0 == "(" }
    return words.count == 2 && ["select", "with", "values"].contains(words[0].lowercased())
  }

  private static func members(of value: JSONValue) throws(WatchQueryError) -> [String: JSONValue] {
    guard case .object(let members) = value else { throw WatchQueryError("\(value.kind) where an object should be") }
    return members
  }

  private static func scalar(_ text: String) -> JSONValue {
    switch try? JSONParser.parse(text) {
    case .some(.integer(let value)): .integer(value)
    case .some(.real(let value)): .real(value)
    default: .string(text)
    }
  }
}
