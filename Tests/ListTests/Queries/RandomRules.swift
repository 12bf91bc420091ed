import LiveQuery
import ServerSupport
import TestSupport

/// Random roles over the tables of `LiveLibrary`, with plausible filters and columns, and clients with these roles.
struct RandomRules {
  /// Tables for the oracle: their columns with declarations.
  static let columns: [(table: String, columns: [(name: String, declaration: String)], end: String)] = [
    (
      "author",
      [("id", "INTEGER PRIMARY KEY"), ("name", "TEXT COLLATE NOCASE"), ("country", "TEXT"), ("mentor", "INT")], ")"
    ),
    (
      "book",
      [("id", "INTEGER PRIMARY KEY"), ("author_id", "INT"), ("title", "TEXT"), ("year", "INT"), ("genre", "TEXT")],
      ")"
    ),
    (
      "sale", [("book_id", "INT"), ("region", "TEXT"), ("amount", "REAL")],
      ", PRIMARY KEY (book_id, region)) WITHOUT ROWID"
    ),
    ("genre", [("code", "TEXT PRIMARY KEY"), ("label", "TEXT"), ("id", "INT")], ")"),
  ]

  private static let filters: [String: [String]] = [
    "author": [
      "id > :claims_sub", "country = :claims_country", "mentor IS NOT :claims_sub",
      "author.country IN (SELECT value FROM json_each(:claims_orgs))",
      "EXISTS (SELECT 1 FROM book WHERE author_id = author.id AND year > :claims_sub)",
      "id IN (SELECT author_id FROM main.book) OR name = :claims_country", "id = :claims_sub AND country IS NOT NULL",
      "mentor = :claims_sub",
    ],
    "book": [
      "author_id = :claims_sub", "year IS NULL OR year > :claims_sub", "genre = :claims_country",
      "author_id IN (SELECT id FROM author WHERE country = :claims_country)",
      "id NOT IN (SELECT mentor FROM author WHERE mentor IS NOT NULL)", "title > :claims_country COLLATE NOCASE",
    ],
    "sale": ["book_id <> :claims_sub", "region = :claims_country", "amount > (SELECT min(amount) FROM sale)"],
    "genre": ["id >= :claims_sub", "label IS NOT :claims_country", "code IN (SELECT genre FROM book)"],
    "note": ["rowid > :claims_sub", "body LIKE 'a%'"],
    "shelf": ["id > :claims_sub", "author = :claims_country"],
    "everything": ["year > :claims_sub"],
  ]

  static let views = ["shelf", "lonely", "everything"]

  private var generator: SeededGenerator
  private(set) var rules = AccessRules()
  private(set) var identities: [Query.Access] = []

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    for name in ["reader", "writer"] { rules.roles[name] = role() }
    // With that many rules, those whose filters compare columns are found by an index.
    let count = chance(20) ? 12 : 3
    let isPublished = chance(20)
    for _ in 0..<count {
      let claims: [String: SQLValue] = [
        "claims_sub": pick([.integer(1), .integer(2), .integer(0), .text("2")]),
        "claims_country": pick([.text("a"), .text("A"), .text("b"), .null]),
        "claims_orgs": pick([.text(#"["a","b"]"#), .text("[]"), .text(#"["A"]"#)]),
      ]
      let role = count > 3 ? "reader" : pick(["reader", "writer"])
      identities.append(Query.Access(role: role, isPublished: isPublished, claims: claims))
    }
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  private mutating func role() -> AccessRules.Role {
    var role = AccessRules.Role()
    for (table, columns, _) in Self.columns where chance(95) {
      var rule = AccessRules.Table()
      if chance(60) { rule.rows = pick(Self.filters[table]!) }
      if chance(20) {
        var names = columns.map(\.name)
        names.remove(at: chance(20) ? 0 : Int.random(in: 1..<names.count, using: &generator))
        rule.columns = names.shuffled(using: &generator)
      }
      role.tables[table] = rule
    }
    if chance(80) { role.tables["note"] = .init(rows: chance(50) ? pick(Self.filters["note"]!) : nil) }
    for view in Self.views where chance(90) {
      var rule = AccessRules.Table()
      if chance(25) { rule.rows = Self.filters[view].map { $0[0] } }
      if chance(15) { rule.columns = ["id", "title"] }
      role.tables[view] = rule
    }
    return role
  }

  /// A query as another client would send it, over any of the tables.
  mutating func query(_ queries: inout RandomQueries) -> OracleQuery {
    if chance(60) { return queries.query() }
    return pick(LiveLibrary.joins + LiveLibrary.groups + LiveLibrary.others)
  }
}
