package import LiveQuery

extension ChangesRequest {
  init(_ reader: MemberReader) throws(FreshetError) {
    self.init()
    if let json = reader.members["tables"], json != .null {
      guard case .array(let values) = json else { throw .badMessage("tables must be an array, not \(json.kind)") }
      var names: [String] = []
      for value in values { names.append(try ChangesRequest.text(value, "tables")) }
      tables = names
    }
    for (table, value) in try ChangesRequest.members(reader.members["columns"], "columns") {
      guard case .array(let values) = value else {
        throw .badMessage("columns.\(table) must be an array, not \(value.kind)")
      }
      var names: [String] = []
      for value in values { names.append(try ChangesRequest.text(value, "columns.\(table)")) }
      columns[table] = names
    }
    for (table, value) in try ChangesRequest.members(reader.members["where"], "where") {
      filters[table] = try ChangesRequest.text(value, "where.\(table)")
    }
    try check()
  }

  /// - Throws: if a member concerns a table that the client did not request.
  package func check() throws(FreshetError) {
    guard let tables else { return }
    if tables.isEmpty { throw .badQuery("tables is empty: name some, or leave it out for all") }
    let names = Set(tables.map { $0.lowercased() })
    for (member, named) in [("columns", Array(columns.keys)), ("where", Array(filters.keys))] {
      if let other = named.sorted().first(where: { !names.contains($0.lowercased()) }) {
        throw .badQuery("\(member) is about \(other), which is none of tables")
      }
    }
  }

  private static func text(_ json: JSONValue, _ place: String) throws(FreshetError) -> String {
    guard case .string(let text) = json else { throw .badMessage("\(place) must hold strings, not \(json.kind)") }
    return text
  }

  private static func members(_ json: JSONValue?, _ place: String) throws(FreshetError) -> [String: JSONValue] {
    switch json {
    case nil, .null: return [:]
    case .object(let members): return members
    case .some(let other): throw .badMessage("\(place) must be an object by table, not \(other.kind)")
    }
  }
}
