package import LiveQuery

extension JSONWriter {
  /// Writes a query in the form in which clients write it: protocol 2.
  ///
  /// - Parameter isWhole: whether parameters' values, and members that do not belong to the list, are written as well.
  package mutating func write(_ query: Query, isWhole: Bool = false) {
    object { object in
      if let name = query.publishedName {
        object.member("name", name)
        if isWhole { object.member("params", query.parameters) }
        return
      }
      object.member("from", query.from)
      if !query.select.isEmpty { object.strings("select", query.select) }
      if let filter = query.filter { object.member("where", filter) }
      if !query.groupBy.isEmpty { object.strings("groupBy", query.groupBy) }
      if let having = query.having { object.member("having", having) }
      if let sectionBy = query.sectionBy { object.write(sectionBy) }
      if !query.orderBy.isEmpty { object.strings("orderBy", query.orderBy) }
      if let limit = query.limit { object.member("limit", limit) }
      if !query.key.isEmpty { object.strings("key", query.key) }
      if isWhole { object.members(besideListOf: query) }
    }
  }

  private mutating func members(besideListOf query: Query) {
    member("params", query.parameters)
    member("totals", fragments: query.sortedTotals)
    member("alongside", fragments: query.sortedAlongside)
    if let every = query.refreshEvery { member("refreshEvery", every / .seconds(1)) }
  }

  /// Writes SQL fragments by name, if there are any.
  private mutating func member(_ name: StaticString, fragments: [(name: String, sql: String)]) {
    if fragments.isEmpty { return }
    self.name(name)
    object { object in
      for (name, sql) in fragments {
        object.name(escaping: name)
        object.string(sql)
      }
    }
  }

  /// Writes the values of parameters, if there are any.
  package mutating func member(_ name: StaticString, _ parameters: Query.Parameters) {
    switch parameters {
    case .named([:]), .positional([]): break
    case .named(let values):
      member(name, values.sorted { $0.key < $1.key }.map { NamedValue(name: $0.key, value: $0.value) })
    case .positional(let list):
      self.name(name)
      array { for value in list { $0.value(value) } }
    }
  }

  private mutating func write(_ sectionBy: Query.SectionBy) {
    if !sectionBy.isDescending, sectionBy.name == nil, sectionBy.indexTitle == nil {
      return member("sectionBy", sectionBy.expression)
    }
    name("sectionBy")
    object { object in
      object.member("by", sectionBy.expression)
      if sectionBy.isDescending { object.member("order", "DESC") }
      if let name = sectionBy.name { object.member("name", name) }
      if let title = sectionBy.indexTitle { object.member("indexTitle", title) }
    }
  }
}
