package import LiveQuery

extension Query {
  /// Reads a query in the form in which clients write it: protocol 2. Fragments are trimmed, so that queries that
  /// differ only in outer white space are equal.
  ///
  /// - Throws: `bad_message` for a member of the wrong type, `bad_query` for an impossible or unknown member, so that a
  ///   misspelled `orderby` does not give an unsorted list.
  package init(json: JSONValue) throws(FreshetError) {
    guard case .object(let members) = json else { throw .badMessage("query must be an object, not \(json.kind)") }
    let reader = MemberReader(members: members, prefix: "query.")
    try reader.checkNames(Query.members)
    self.init(from: "")
    parameters = try Parameters(json: members["params"])
    sectionBy = try SectionBy(json: members["sectionBy"])
    orderBy = try reader.strings("orderBy").map(trimmed)
    limit = try reader.count("limit")
    refreshEvery = try reader.seconds("refreshEvery")
    key = try reader.strings("key").map(trimmed)
    totals = try reader.fragments("totals")
    alongside = try reader.fragments("alongside")
    if let sql = try reader.string("sql") {
      for part in Query.parts where members[part] != nil {
        throw .badQuery("query.sql is a whole SELECT: leave out query.\(part)")
      }
      try take(sql: sql)
      return
    }
    from = trimmed(try reader.required("from"))
    select = try reader.strings("select").map(trimmed)
    filter = try reader.string("where").map(trimmed)
    groupBy = try reader.strings("groupBy").map(trimmed)
    having = try reader.string("having").map(trimmed)
  }

  /// Members that a whole SELECT replaces.
  private static let parts = ["from", "select", "where", "groupBy", "having"]

  /// The members of a query.
  package static let members = [
    "from", "select", "where", "params", "groupBy", "having", "sectionBy", "orderBy", "limit", "key", "refreshEvery",
    "totals", "alongside", "sql",
  ]
}

extension QuerySource {
  /// The `query` of a message: a query, or `{"name": …, "params": …}` for a published one.
  package init(json: JSONValue) throws(FreshetError) {
    guard case .object(let members) = json, members["name"] != nil, members["from"] == nil else {
      self = .adHoc(try Query(json: json))
      return
    }
    let reader = MemberReader(members: members, prefix: "query.")
    try reader.checkNames(["name", "params"])
    let name = try reader.required("name")
    self = .published(name: name, parameters: try Query.Parameters(json: members["params"]))
  }
}

extension Query.SectionBy {
  fileprivate init?(json: JSONValue?) throws(FreshetError) {
    switch json {
    case nil, .null: return nil
    case .string(let expression): self.init(trimmed(expression))
    case .object(let members):
      let reader = MemberReader(members: members, prefix: "query.sectionBy.")
      try reader.checkNames(["by", "order", "name", "indexTitle"])
      self.init(trimmed(try reader.required("by")))
      name = try reader.string("name").map(trimmed)
      indexTitle = try reader.string("indexTitle").map(trimmed)
      switch try reader.string("order").map({ $0.uppercased() }) {
      case nil, "ASC": isDescending = false
      case "DESC": isDescending = true
      case .some(let other): throw .badQuery("query.sectionBy.order must be \"ASC\" or \"DESC\", not \"\(other)\"")
      }
    case .some(let other): throw .badMessage("query.sectionBy must be a string or an object, not \(other.kind)")
    }
  }
}

extension MemberReader {
  /// Reads SQL fragments by name.
  fileprivate func fragments(_ member: String) throws(FreshetError) -> [String: String] {
    var fragments: [String: String] = [:]
    for (name, sql) in try object(member) ?? [:] {
      guard case .string(let text) = sql else {
        throw .badMessage("query.\(member).\(name) must be a string, not \(sql.kind)")
      }
      fragments[name] = trimmed(text)
    }
    return fragments
  }
}

/// The text without white space at its ends. Only ASCII white space counts, as in SQLite.
private func trimmed(_ text: String) -> String {
  let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
  let bytes = text.utf8.drop(while: isSpace)
  guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return "" }
  return String(bytes[...last]) ?? text
}
