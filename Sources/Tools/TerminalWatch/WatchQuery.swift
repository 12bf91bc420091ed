package import Wire

/// The error that a command line does not describe a query.
package struct WatchQueryError: Error, CustomStringConvertible {
  /// One sentence for people.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The `query` of a subscription, put together from what a command line gives.
package struct WatchQuery {
  /// JSON, a whole SELECT, or a `from` fragment such as a table's name.
  package var query: String?
  /// A whole SELECT.
  package var sql: String?
  /// The name of a published query.
  package var name: String?
  /// `NAME=VALUE`; a value that is written as a JSON number is one, else it is text, as in URLs.
  package var parameters: [String] = []
  /// Expressions; each may hold several, separated by commas.
  package var select: [String] = []
  package var filter: String?
  package var groupBy: [String] = []
  package var having: String?
  package var orderBy: [String] = []
  package var sectionBy: String?
  package var key: [String] = []
  /// How many rows the result has at most.
  package var top: Int?
  /// In seconds.
  package var refreshEvery: Double?
  /// `NAME=EXPRESSION`.
  package var totals: [String] = []
  /// `NAME=SELECT`.
  package var alongside: [String] = []

  package init() {}

  /// - Throws: a sentence that says what is wrong.
  package func json() throws(WatchQueryError) -> JSONValue {
    var members = try source()
    let lists = [("select", select), ("groupBy", groupBy), ("orderBy", orderBy), ("key", key)]
    for (member, values) in lists where !values.isEmpty {
      members[member] = .array(values.flatMap(\.topLevelParts).map { .string($0) })
    }
    for (member, text) in [("where", filter), ("having", having), ("sectionBy", sectionBy)] {
      if let text { members[member] = .string(text) }
    }
    if let top { members["limit"] = .integer(Int64(top)) }
    if let refreshEvery { members["refreshEvery"] = .real(refreshEvery) }
    try Self.add(totals, to: "totals", of: &members, "--total takes NAME=EXPRESSION") { .string($0) }
    try Self.add(alongside, to: "alongside", of: &members, "--alongside takes NAME=SELECT") { .string($0) }
    try Self.add(parameters, to: "params", of: &members, "--param takes NAME=VALUE", Self.scalar)
    return .object(members)
  }

  /// Adds texts of the form `NAME=…` to a member that is an object.
  private static func add(
    _ texts: [String], to member: String, of members: inout [String: JSONValue], _ rule: String,
    _ value: (String) -> JSONValue
  ) throws(WatchQueryError) {
    if texts.isEmpty { return }
    var values = try members[member].map { (value) throws(WatchQueryError) in try Self.members(of: value) } ?? [:]
    for text in texts {
      let (name, rest) = try pair(text, rule)
      values[name] = value(rest)
    }
    members[member] = .object(values)
  }

  private static func pair(_ text: String, _ rule: String) throws(WatchQueryError) -> (name: String, value: String) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw WatchQueryError("\(rule), not \(text)")
    }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  private func source() throws(WatchQueryError) -> [String: JSONValue] {
    switch (query, sql, name) {
    case (nil, nil, nil): throw WatchQueryError("what to watch is missing: a query, a table, --sql or --name")
    case (nil, let sql?, nil): return ["sql": .string(sql)]
    case (nil, nil, let name?): return ["name": .string(name)]
    case (let query?, nil, nil):
      guard query.first(where: { !$0.isWhitespace }) == "{" else {
        return [Self.isSelect(query) ? "sql" : "from": .string(query)]
      }
      let value: JSONValue
      do throws(JSONError) { value = try JSONParser.parse(query) } catch {
        throw WatchQueryError("the query is not JSON: \(error.message), at byte \(error.offset)")
      }
      return try Self.members(of: value)
    default: throw WatchQueryError("give one of a query, --sql and --name")
    }
  }

  /// Whether a text begins as a SELECT does. None of these words can be a table's name with more text after it.
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
