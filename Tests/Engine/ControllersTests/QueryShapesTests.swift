import Foundation
import GRDB
import LiveQuery
import Requests
import TestSupport
import Testing

/// Many queries that differ only in the values of their parameters, through random commits of another process: each
/// must equal SQLite's own answer, whichever lists a change was found to concern.
///
/// `FRESHET_SEED=n swift test --filter QueryShapesTests` repeats a failure.
@Suite struct QueryShapesTests {
  struct Shape: Sendable, CustomTestStringConvertible {
    var query: Query
    /// The values to try for each parameter, in their order in the query.
    var names: [String]
    var testDescription: String { "\(query.from) WHERE \(query.filter ?? "")" }

    init(
      _ from: String, _ filter: String?, _ names: String..., key: [String] = ["t.id"], select: [String] = ["t.name"],
      change: (inout Query) -> Void = { _ in }
    ) {
      query = Query(from: from)
      query.filter = filter
      query.key = key
      query.select = select
      self.names = names
      change(&query)
    }
  }

  private static let schema = RandomSchema(
    description: "shapes",
    sql: """
      CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, country TEXT, mentor INT, loose, ratio REAL, n NUMERIC,
        trimmed TEXT COLLATE RTRIM, v1);
      CREATE INDEX t_country ON t(country); CREATE INDEX t_mentor ON t(mentor, loose); CREATE INDEX t_name ON t(name);
      CREATE TABLE u(id INTEGER PRIMARY KEY, t_id INT, year INT, title TEXT); CREATE INDEX u_t ON u(t_id);
      CREATE TABLE w(k TEXT COLLATE NOCASE, i INT, label TEXT, PRIMARY KEY (k, i)) WITHOUT ROWID;
      """,
    tables: [
      ("t", ["id", "name", "country", "mentor", "loose"]), ("t", ["ratio", "n", "trimmed", "loose", "v1"]),
      ("t", ["country", "mentor"]), ("u", ["id", "t_id", "year", "title"]), ("u", ["year"]),
      ("w", ["k", "i", "label"]),
    ])

  private static let equalities = [
    "name", "country", "mentor", "loose", "ratio", "n", "trimmed", "v1", "id", "rowid", "t.\"country\"",
    "main.t.mentor",
  ].map { Shape("t", "\($0) = :p", "p") }

  private static let pairs = [
    "name = :p AND country = :p", "country = :p AND name = :p", "country = :p AND loose = :p",
    "loose = :p AND country = :p",
    "mentor = :p AND loose = :p", "mentor = :p AND country = :p", "trimmed = :p AND name = :p",
    "n = :p AND trimmed = :p",
    "country = :p AND country = :p", "ratio = :p AND mentor = :p",
  ].map { Shape("t", $0, "p") }

  private static let conditions =
    [
      "id > :p", "country IS :p", ":p = country", "country = :p COLLATE NOCASE", "NOT country = :p", "country <> :p",
      "substr(name, 1, 1) = :p", "country = ifnull(:p, 'a')", "country COLLATE NOCASE = :p", "v1 = :p OR id = :p",
      "name LIKE :p || '%'", "country IN (:p, 'a')", "id IN (SELECT t_id FROM u ORDER BY id LIMIT :p + 2)",
      "EXISTS (SELECT 1 FROM u WHERE t_id = t.id AND year = :p)", "(country, mentor) = (:p, 1)",
      "country = :p AND EXISTS (SELECT 1 FROM u WHERE t_id = t.id)", "(country = :p)", "country == :p AND id > 0",
      "CASE WHEN country = :p THEN 1 END", "country = :p AND name IS NOT NULL", "+country = :p",
      "typeof(:p) = typeof(loose)",
    ].map { Shape("t", $0, "p") }
    + [
      "country = :p AND mentor = :q", "year BETWEEN :p AND :q", "mentor >= :p AND name <= :q",
      "country = :p OR mentor = :q",
      "country = :p AND year > :q",
    ].map { Shape("t LEFT JOIN u ON u.t_id = t.id", $0, "p", "q", key: ["t.id", "u.id AS uid"]) }

  private static let places = [
    Shape("t JOIN u ON u.t_id = t.id AND u.year = :p", nil, "p", key: ["t.id", "u.id AS uid"]),
    Shape("t LEFT JOIN u ON u.t_id = t.id AND u.year > :p", "country = :q", "p", "q", key: ["t.id", "u.id AS uid"]),
    Shape("u JOIN t ON t.id = u.t_id", "country = :p", "p", key: ["u.id AS uid"]),
    Shape("u LEFT JOIN t ON t.id = u.t_id AND t.country = :p", "year >= :q", "p", "q", key: ["u.id AS uid"]),
    Shape("t JOIN u USING (id)", "country = :p", "p"), Shape("t JOIN u USING (id)", "year > :p", "p"),
    Shape("t NATURAL JOIN u", "year = :p", "p"), Shape("t NATURAL LEFT JOIN u", "mentor = :p", "p"),
    Shape(
      "t JOIN (SELECT id AS uid, t_id FROM u WHERE year > :p) AS s ON s.t_id = t.id", "t.mentor <= :q", "p", "q",
      key: ["t.id", "s.uid"]),
    Shape("t, json_each(json_array(:p, 1)) AS j", "t.country = j.value", "p", key: ["t.id", "j.key"]),
    Shape("t", "country = :p", "p", "q", select: ["name || :q AS x"]),
    Shape("t", "country = :p", "p", "q") { $0.sectionBy = .init("mentor > :q") },
    Shape("t", "country = :p", "p", "q") { $0.orderBy = ["mentor = :q DESC"] },
    Shape("t", "up = :p", "p", select: ["upper(country) AS up"]),
    Shape("t", "country = :p", "p", select: ["name AS country2", "mentor AS name"]),
    Shape("t AS x", "x.country = :p", "p", key: ["x.id"], select: ["x.name"]),
    Shape("w", "k = :p", "p", key: [], select: ["label"]), Shape("w", "i = :p", "p", key: [], select: ["label"]),
    Shape("w", "k = :p AND i = :q", "p", "q", key: [], select: ["label"]),
    Shape("w", "label = :p", "p", key: ["k || i AS ki"], select: ["label"]),
    Shape("t", "mentor = :p", "p", key: ["country"], select: ["count(*) AS n"]) { $0.groupBy = ["country"] },
    Shape("t", "country = :p", "p", select: ["count(u.id) AS n"]) { query in
      query.from = "t LEFT JOIN u ON u.t_id = t.id"
      query.groupBy = ["t.id"]
    },
    Shape("t", "mentor > :p", "p", key: ["country", "mentor"], select: ["count(*) AS n"]) { query in
      query.groupBy = ["country", "mentor"]
      query.having = "count(*) > 1"
    },
    Shape("t", "country = :p", "p") { $0.limit = 2 },
    Shape("t", "country = :p", "p") {
      $0.alongside = ["n": "SELECT count(*) FROM u WHERE year = :p"]
    },
  ]

  private static let seed =
    PropertySeeds.repeated ?? .random(in: 0 ... .max)

  private static let values: [SQLValue] = [
    .null, .integer(0), .integer(1), .integer(2), .integer(-2), .real(1), .real(2.5), .text("a"), .text("A"),
    .text("b"),
    .text("B "), .text("B"), .text("1"), .text("1.0"), .text("2.5"), .text("a "), .blob([0x61]), .text(""), .integer(4),
    .text("é"), .text("😀"),
  ]

  private static let shapes = equalities + pairs + conditions + places

  @Test(arguments: shapes) func everyQueryIsFollowed(shape: Shape) throws {
    try follow(shape, Self.seed)
  }

  /// When a commit changed only the case of a unit, the row was found twice under NOCASE, once by each spelling.
  @Test func unitsAreReadOnceWhateverTheirSpelling() throws {
    let shape = try #require(Self.shapes.first { $0.query.key == ["k || i AS ki"] })
    try follow(shape, 92)
  }

  private func queries(_ shape: Shape) -> [Query] {
    let second = shape.names.count > 1 ? [SQLValue.integer(1), .text("a"), .null] : [.null]
    return Self.values.flatMap { first in
      second.map { second in
        var query = shape.query
        query.parameters = .named(Dictionary(uniqueKeysWithValues: zip(shape.names, [first, second])))
        return query
      }
    }
  }

  private func follow(_ shape: Shape, _ seed: UInt64) throws {
    // Its name makes texts that sort otherwise in UTF-16 than by code point.
    let isUTF16 = seed % 2 == 0
    let schema = RandomSchema(
      description: isUTF16 ? "UTF-16" : "shapes",
      sql: (isUTF16 ? "PRAGMA encoding = 'UTF-16';\n" : "") + Self.schema.sql, tables: Self.schema.tables)
    var statements = StatementGenerator(schema: schema, seed: seed)
    let fixture = try FollowerFixture(schema.sql)
    for _ in 0..<8 { try fixture.writer.run(statements.commit()) }
    let queries = queries(shape)
    for (index, query) in queries.enumerated() {
      fixture.subscribe(SubscriptionKey(session: UInt64(index + 1), id: "q"), query)
    }
    // Some values cause errors in some queries, which must not affect the other queries.
    func expected(_ query: Query) -> String { (try? fixture.queue.read { try Self.oracle($0, query) }) ?? "bad_query" }
    var ends = queries.map { Set(["fatal \(expected($0))", "error \(expected($0))"]) }
    for step in 0..<6 {
      let commit = statements.commit()
      try fixture.writer.run(commit)
      for (index, query) in queries.enumerated() {
        let answer = fixture.wait(query, unless: nil, for: .zero).result()
        let expected = expected(query)
        let place = "FRESHET_SEED=\(seed) step \(step) \(query) after:\n\(commit)"
        #expect(answer == expected, "\(place)")
        if answer != expected { return }
        ends[index].formUnion(["fatal \(expected)", "error \(expected)"])
        let key = SubscriptionKey(session: UInt64(index + 1), id: "q")
        let ended = fixture.recorder.deliveries(key).first { $0.hasPrefix("fatal") || $0.hasPrefix("error") }
        let isExpected = ended.map(ends[index].contains) ?? true
        #expect(isExpected, "\(ended ?? ""), \(place)")
        if !isExpected { return }
      }
    }
  }

  /// SQLite's answer, in the format of `FollowerFixture`.
  private static func oracle(_ db: Database, _ query: Query) throws -> String {
    let defaults = query.from == "w" ? ["k", "i"] : []
    let keys = query.key.isEmpty ? defaults : query.key
    let select = query.select.filter { !keys.contains($0) }
    let group = query.groupBy.isEmpty ? "" : "GROUP BY \(query.groupBy.joined(separator: ", "))"
    let names = keys.map { $0.components(separatedBy: " AS ").last! }
    let order =
      [query.sectionBy?.expression].compactMap { $0 } + query.orderBy + names + names.map { "\($0) COLLATE BINARY" }
    let sql = """
      SELECT \((keys + select).joined(separator: ", ")) FROM \(query.from) WHERE \(query.filter ?? "1") \(group) \
      \(query.having.map { "HAVING \($0)" } ?? "") ORDER BY \(order.joined(separator: ", ")) LIMIT \(query.limit ?? -1)
      """.replacing("WHERE up =", with: "WHERE upper(country) =")
    guard case .named(let parameters) = query.parameters else { return "" }
    let arguments = StatementArguments(parameters.filter { sql.contains(":\($0.key)") }.mapValues { value(of: $0) })
    let rows = try Row.fetchAll(db, sql: sql, arguments: arguments).map { $0.databaseValues.map(text) as [String] }
    if Set(rows.map { $0.prefix(keys.count) }).count < rows.count { return "duplicate_key" }
    return rows.map { $0.joined(separator: ",") }.joined(separator: " ")
  }

  private static func value(of value: SQLValue) -> (any DatabaseValueConvertible)? {
    switch value {
    case .null: nil
    case .integer(let value): value
    case .real(let value): value
    case .text(let value): value
    case .blob(let value): Data(value)
    }
  }

  private static func text(_ value: DatabaseValue) -> String {
    switch value.storage {
    case .null: "null"
    case .int64(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): "'\(value)'"
    case .blob(let value): "\(value.count) bytes"
    }
  }
}
