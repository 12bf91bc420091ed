import LiveQuery
import Store

/// A query's fragments, each checked to be one piece, with their parameters numbered.
///
/// A fragment is used in several statements together with different others. Numbered parameters (`?7`) mean the same in
/// all of them. Fragments are read in the order of a SELECT's clauses, because `?` is counted in this order.
struct QueryFragments {
  /// The columns: as written, from which SQLite names the column, and with numbered parameters.
  var select: [(written: SQLFragment, numbered: SQLFragment)] = []
  var from: FromClause
  var filter: SQLFragment?
  var groupBy: [SQLFragment] = []
  var having: SQLFragment?
  var section: SQLFragment?
  var sectionName: SQLFragment?
  var indexTitle: SQLFragment?
  var orderBy: [SortTerm] = []
  /// The offsets of the rows that LIMIT and OFFSET leave.
  var shown = 0..<Int.max
  var key: [(written: SQLFragment, numbered: SQLFragment)] = []
  var totals: [(name: String, fragment: SQLFragment)] = []
  var alongside: [(name: String, fragment: SQLFragment)] = []
  /// The names of the parameters `?1`, `?2`, …; nil for parameters given by position.
  var parameterNames: [String?]
  /// The parameters of claims, by the claims' names.
  var claims: [String: String] = [:]
  var parameterCount: Int { parameterNames.count }
  /// Whether a fragment contains an operation that `PatternRules` calls costly.
  var isCostly: Bool

  /// The same parameters without fragments.
  var empty: QueryFragments {
    var empty = self
    (empty.select, empty.filter, empty.groupBy, empty.having, empty.key) = ([], nil, [], nil, [])
    (empty.section, empty.sectionName, empty.indexTitle, empty.orderBy, empty.totals) = (nil, nil, nil, [], [])
    return empty
  }

  /// The SQL of all fragments that the rows depend on.
  var rowTexts: [String] {
    var fragments = [from.fragment] + [filter, having, section, sectionName, indexTitle].compactMap(\.self) + groupBy
    fragments += select.map(\.numbered) + key.map(\.numbered) + orderBy.map(\.expression) + totals.map(\.fragment)
    return fragments.map(\.text)
  }

  /// The most entries of a list. Each entry is compiled separately, which takes about 0.1 ms.
  private static let longestList = 1_000

  init(_ query: Query) throws(FreshetError) {
    let lists = [
      ("select", query.select), ("orderBy", query.orderBy), ("key", query.key), ("groupBy", query.groupBy),
      ("totals", query.sortedTotals.map(\.sql)), ("alongside", query.sortedAlongside.map(\.sql)),
    ]
    for (name, list) in lists where list.count > Self.longestList {
      throw .badQuery("\(name) has \(list.count) entries, \(Self.longestList) at most are allowed")
    }
    if let limit = query.limit { shown = 0..<max(0, limit) }
    var reader = try FragmentReader(query)
    for (index, text) in query.select.enumerated() { select.append(try reader.pair(text, "select[\(index)]")) }
    from = try FromClause(try reader.numbered(query.from, "from", kind: .tables).text)
    filter = try reader.numbered(optional: query.filter, "where")
    for (index, text) in query.groupBy.enumerated() { groupBy.append(try reader.numbered(text, "groupBy[\(index)]")) }
    having = try reader.numbered(optional: query.having, "having")
    section = try reader.numbered(optional: query.sectionBy?.expression, "sectionBy")
    sectionName = try reader.numbered(optional: query.sectionBy?.name, "sectionBy.name")
    indexTitle = try reader.numbered(optional: query.sectionBy?.indexTitle, "sectionBy.indexTitle")
    for (index, text) in query.orderBy.enumerated() {
      orderBy.append(try SortTerm(try reader.numbered(text, "orderBy[\(index)]")))
    }
    for (index, text) in query.key.enumerated() { key.append(try reader.pair(text, "key[\(index)]")) }
    for entry in query.sortedTotals {
      totals.append((entry.name, try reader.numbered(entry.sql, "totals.\(entry.name)")))
    }
    for entry in query.sortedAlongside {
      alongside.append((entry.name, try reader.numbered(entry.sql, "alongside.\(entry.name)", kind: .statement)))
    }
    try reader.numbering.checkAllUsed()
    for claim in query.access.read { claims[claim] = try reader.numbering.replacement(for: ":\(claim)") }
    parameterNames = reader.numbering.names
    isCostly = reader.isCostly
  }
}

/// Reads texts one after another: checks them, numbers their parameters and replaces patterns (`PatternRules`).
private struct FragmentReader {
  var numbering: ParameterNumbering
  private(set) var isCostly = false
  private let mayChange: Bool
  private let isRestricted: Bool

  init(_ query: Query) throws(FreshetError) {
    numbering = try ParameterNumbering(query)
    mayChange = query.refreshEvery != nil
    isRestricted = query.access.role != nil
  }

  mutating func pair(
    _ text: String, _ place: String
  ) throws(FreshetError) -> (written: SQLFragment, numbered: SQLFragment) {
    (try SQLFragment(text, place: place), try numbered(text, place))
  }

  mutating func numbered(optional text: String?, _ place: String) throws(FreshetError) -> SQLFragment? {
    guard let text else { return nil }
    return try numbered(text, place)
  }

  mutating func numbered(
    _ text: String, _ place: String, kind: SQLFragment.Kind = .expression
  ) throws(FreshetError) -> SQLFragment {
    let fragment = try SQLFragment(text, place: place, kind: kind)
    try FragmentRules.check(fragment, mayChange: mayChange)
    if isRestricted { try FragmentRules.refuseSchemaNames(fragment) }
    isCostly = isCostly || fragment.isCostly
    var numbering = self.numbering
    var isReplaced = false
    let sql = try fragment.replacing { index throws(FreshetError) in
      let token = fragment.tokens[index]
      let new =
        token.kind == .parameter
        ? try numbering.replacement(for: fragment.text(of: token))
        : PatternRules.replacement(at: index, of: fragment.tokens, in: fragment.tokenizer)
      isReplaced = isReplaced || new != nil
      return new
    }
    guard isReplaced else { return fragment }
    self.numbering = numbering
    return try SQLFragment(sql, place: place, kind: kind)
  }
}
