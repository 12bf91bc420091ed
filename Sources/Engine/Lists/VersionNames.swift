import CSQLite
import LiveQuery
import Store

/// Names a query's versions by query, epoch and commit, so that all servers of an epoch give a state the same name.
struct VersionNames {
  /// Identifies the query in the epoch.
  private let query: String
  /// Whether the commit alone determines the query's result.
  var isByCommit: Bool

  /// - Parameter rules: what each role may read.
  init(_ query: Query, _ rules: AccessRules, _ schema: DatabaseSchema, epoch: String) {
    isByCommit = query.isOfCommitAlone && !schema.mayChangeByItself(query, rules)
    guard isByCommit else {
      self.query = ""
      return
    }
    var fingerprint = Fingerprint()
    // Another version of SQLite may compute other values, so its names must differ.
    fingerprint.add(["freshet.v1", epoch, String(cString: sqlite3_libversion())])
    fingerprint.add(query.identity)
    if let role = query.access.role, let rules = rules.roles[role] { fingerprint.add(rules) }
    self.query = fingerprint.description
  }

  /// The query's part in the names of its versions; nil if they are not named by commits.
  var queryName: String? { isByCommit ? query : nil }

  func name(at commit: Int64) -> String {
    let digits = String(commit)
    // The name is built with one allocation, because every patch has a name.
    return String(unsafeUninitializedCapacity: query.utf8.count + 1 + digits.utf8.count) { bytes in
      var end = bytes.update(fromContentsOf: query.utf8)
      bytes[end] = UInt8(ascii: ".")
      end += 1
      return bytes[end...].update(fromContentsOf: digits.utf8)
    }
  }

  /// The commit in a name; nil if the name does not belong to this query in this epoch.
  func commit(of name: String) -> Int64? {
    guard isByCommit, name.utf8.count > query.utf8.count + 1, name.hasPrefix(query) else { return nil }
    let rest = name.utf8.dropFirst(query.utf8.count)
    guard rest.first == UInt8(ascii: "."), let commit = Int64(Substring(rest.dropFirst())) else { return nil }
    // Only the canonical spelling of a commit is accepted.
    return self.name(at: commit) == name ? commit : nil
  }
}

extension Query {
  /// Whether the rows depend only on the file, and not on the time or on random numbers.
  var isOfCommitAlone: Bool {
    if refreshEvery != nil { return false }
    let isNow = { (value: SQLValue) in
      if case .text(let text) = value { ChangingSQL.isNow(text) } else { false }
    }
    switch parameters {
    case .none: break
    case .positional(let values): if values.contains(where: isNow) { return false }
    case .named(let values): if values.values.contains(where: isNow) { return false }
    }
    return !access.read.contains { access.claims[$0].map(isNow) ?? false }
  }
}

extension Fingerprint {
  fileprivate mutating func add(_ rules: AccessRules.Role) {
    for (name, table) in rules.tables.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      add([name, table.rows == nil ? "" : "rows", table.rows ?? "", table.columns == nil ? "" : "columns"])
      add(table.columns ?? [])
    }
  }
}

extension DatabaseSchema {
  /// Whether a query may read, even indirectly, a view whose rows change with time.
  fileprivate func mayChangeByItself(_ query: Query, _ rules: AccessRules) -> Bool {
    let views = tables.compactMap { table in table.definition.map { (name: table.name.lowercased(), text: $0) } }
    var changing = Set(views.filter { ChangingSQL.first(in: $0.text) != nil }.map(\.name))
    if changing.isEmpty { return false }
    let words = views.map { (name: $0.name, words: SQLTokenizer.names(in: $0.text)) }
    var count = 0
    while changing.count > count {
      count = changing.count
      for view in words where !view.words.isDisjoint(with: changing) { changing.insert(view.name) }
    }
    let filters = query.access.role.flatMap { rules.roles[$0] }?.tables.values.compactMap(\.rows) ?? []
    return (query.texts + filters).contains { !SQLTokenizer.names(in: $0).isDisjoint(with: changing) }
  }
}

extension Query {
  /// All SQL in the query of a client.
  fileprivate var texts: [String] {
    [from, filter, having, sectionBy?.expression, sectionBy?.name, sectionBy?.indexTitle].compactMap(\.self)
      + select + groupBy + orderBy + key + totals.values + alongside.values
  }
}
