/// In fixtures only what differs from a query's defaults is written.
extension OracleQuery: Codable {
  private enum Key: String, CodingKey {
    case table, keys, select, filter, section, isDescending, orderBy, limit, window, groupBy, having, tellsKey,
      totals, alongside
    case parameters, sql, ownOrder
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    let section = try values.decodeIfPresent(String.self, forKey: .section)
    let isDescending = try values.decodeIfPresent(Bool.self, forKey: .isDescending) ?? false
    let window = try values.decodeIfPresent([Int].self, forKey: .window)
    self.init(
      table: try values.decode(String.self, forKey: .table), keys: try values.decode([String].self, forKey: .keys),
      select: try values.decode([String].self, forKey: .select),
      filter: try values.decodeIfPresent(String.self, forKey: .filter), section: section.map { ($0, isDescending) },
      orderBy: try values.decodeIfPresent([String].self, forKey: .orderBy) ?? [],
      limit: try values.decodeIfPresent(Int.self, forKey: .limit), window: window.map { ($0[0], $0[1]) },
      groupBy: try values.decodeIfPresent([String].self, forKey: .groupBy) ?? [],
      having: try values.decodeIfPresent(String.self, forKey: .having),
      tellsKey: try values.decodeIfPresent(Bool.self, forKey: .tellsKey) ?? false,
      totals: try values.decodeIfPresent([String: String].self, forKey: .totals) ?? [:],
      alongside: try values.decodeIfPresent([String: String].self, forKey: .alongside) ?? [:],
      parameters: try values.decodeIfPresent([String: Int].self, forKey: .parameters) ?? [:])
    sql = try values.decodeIfPresent(String.self, forKey: .sql)
    ownOrder = try values.decodeIfPresent([String].self, forKey: .ownOrder) ?? []
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(table, forKey: .table)
    try values.encode(keys, forKey: .keys)
    try values.encode(select, forKey: .select)
    try values.encodeIfPresent(filter, forKey: .filter)
    try values.encodeIfPresent(section?.expression, forKey: .section)
    if section?.isDescending == true { try values.encode(true, forKey: .isDescending) }
    if !orderBy.isEmpty { try values.encode(orderBy, forKey: .orderBy) }
    try values.encodeIfPresent(limit, forKey: .limit)
    try values.encodeIfPresent(window.map { [$0.offset, $0.limit] }, forKey: .window)
    if !groupBy.isEmpty { try values.encode(groupBy, forKey: .groupBy) }
    try values.encodeIfPresent(having, forKey: .having)
    if tellsKey { try values.encode(true, forKey: .tellsKey) }
    if !totals.isEmpty { try values.encode(totals, forKey: .totals) }
    if !alongside.isEmpty { try values.encode(alongside, forKey: .alongside) }
    if !parameters.isEmpty { try values.encode(parameters, forKey: .parameters) }
    try values.encodeIfPresent(sql, forKey: .sql)
    if !ownOrder.isEmpty { try values.encode(ownOrder, forKey: .ownOrder) }
  }

  /// The query without one of its parts, in all possible ways.
  package var simpler: [OracleQuery] {
    func without(_ isThere: Bool, _ change: (inout OracleQuery) -> Void) -> [OracleQuery] {
      guard isThere else { return [] }
      var query = self
      change(&query)
      return [query]
    }
    return without(window != nil) { $0.window = nil } + without(limit != nil) { $0.limit = nil }
      + without(section != nil) { $0.section = nil } + without(filter != nil) { $0.filter = nil }
      + without(having != nil) { $0.having = nil } + without(!alongside.isEmpty) { $0.alongside = [:] }
      + totals.keys.sorted().flatMap { name in without(true) { $0.totals[name] = nil } }
      + orderBy.indices.flatMap { index in without(true) { $0.orderBy.remove(at: index) } }
      + select.indices.flatMap { index in without(select.count > 1 && sql == nil) { $0.select.remove(at: index) } }
  }
}
