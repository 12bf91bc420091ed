package import LiveQuery

extension JSONWriter {
  /// A query as its clients write it, without the values of its parameters.
  package mutating func write(_ query: Query) {
    object { object in
      object.member("from", query.from)
      if !query.select.isEmpty { object.strings("select", query.select) }
      if let filter = query.filter { object.member("where", filter) }
      if !query.groupBy.isEmpty { object.strings("groupBy", query.groupBy) }
      if let having = query.having { object.member("having", having) }
      if let sectionBy = query.sectionBy { object.write(sectionBy) }
      if !query.orderBy.isEmpty { object.strings("orderBy", query.orderBy) }
      if let limit = query.limit { object.member("limit", limit) }
      if !query.key.isEmpty { object.strings("key", query.key) }
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
