// Two queries are equal if their bytes are. "é" as one code point and as two are different texts to SQLite, but equal
// by `==` of Swift's strings.
extension Query: Hashable {
  public static func == (left: Query, right: Query) -> Bool { left.identity == right.identity }

  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

  /// All parts of the query as bytes, laid end to end. O(length of the query).
  package var identity: [UInt8] {
    var values = PackedValues()
    for text in [from, filter, having, sectionBy?.expression, sectionBy?.name, sectionBy?.indexTitle] {
      values.append(optional: text)
    }
    values.append(Int64(sectionBy?.isDescending == true ? 1 : 0))
    values.append(Int64(limit ?? -1))
    values.append(refreshEvery?.components.seconds ?? -1)
    values.append(refreshEvery?.components.attoseconds ?? 0)
    let named = [sortedAlongside, sortedTotals].map { $0.flatMap { [$0.name, $0.sql] } }
    for list in [select, groupBy, orderBy, key] + named { values.append(list: list) }
    switch parameters {
    case .named([:]): values.appendNull()
    case .positional(let list):
      values.append(Int64(list.count))
      for value in list { values.append(value) }
    case .named(let named): values.append(named)
    }
    values.append(optional: publishedName)
    values.append(optional: access.role)
    values.append(Int64(access.isPublished ? 1 : 0))
    for name in access.read {
      values.append(SQLValue.text(name))
      values.append(access.claims[name] ?? .null)
    }
    return values.bytes
  }
}

extension PackedValues {
  fileprivate mutating func append(optional text: String?) {
    if let text { append(SQLValue.text(text)) } else { appendNull() }
  }

  fileprivate mutating func append(_ named: [String: SQLValue]) {
    append(Double(named.count))
    for name in named.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      append(SQLValue.text(name))
      append(named[name] ?? .null)
    }
  }

  fileprivate mutating func append(list: [String]) {
    append(Int64(list.count))
    for text in list { append(SQLValue.text(text)) }
  }
}
