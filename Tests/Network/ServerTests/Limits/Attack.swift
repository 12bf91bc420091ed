import Testing

/// An expression that a client may write, and that without limits would take SQLite much time or memory.
struct Attack: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let expression: String
  /// Allowed answers: a code, or "ok" if it comes in time.
  let codes: Set<String>

  init(_ description: String, _ codes: Set<String>, _ expression: String) {
    testDescription = description
    self.codes = codes
    self.expression = expression
  }

  static let all = compiling + calling + running

  // MARK: - Texts

  private static func list(_ count: Int, _ separator: String = ", ", _ item: (Int) -> String) -> String {
    (0..<count).map(item).joined(separator: separator)
  }

  /// Many terms joined by operators, in a tree of little depth.
  private static func tree(_ range: Range<Int>, _ symbol: String, _ item: (Int) -> String) -> String {
    if range.count == 1 { return item(range.lowerBound) }
    let middle = range.lowerBound + range.count / 2
    return
      "(\(tree(range.lowerBound..<middle, symbol, item)) \(symbol) \(tree(middle..<range.upperBound, symbol, item)))"
  }

  /// Common tables, each made of the one before.
  private static func chain(_ count: Int, first: String, _ next: (String) -> String, last: String) -> String {
    let tables = ["c0(x) AS (\(first))"] + (1..<count).map { "c\($0)(x) AS (\(next("c\($0 - 1)")))" }
    return "(WITH \(tables.joined(separator: ", ")) SELECT \(last) FROM c\(count - 1))"
  }

  /// A text of 2^doublings times 16 characters.
  private static func text(_ doublings: Int, _ piece: String = "aaaaaaaaaaaaaaaa") -> String {
    "(WITH RECURSIVE r(n, s) AS (SELECT 0, '\(piece)' UNION ALL SELECT n + 1, s || s FROM r WHERE n < \(doublings))"
      + " SELECT s FROM r WHERE n = \(doublings))"
  }

  private static let refused: Set<String> = ["timeout", "too_large"]

  // MARK: - Attacks

  private static let compiling = [
    Attack("doubling joins", refused, chain(22, first: "SELECT 1", { "SELECT a.x FROM \($0) a, \($0) b" }, last: "x")),
    Attack(
      "doubling unions", refused,
      chain(22, first: "SELECT 1", { "SELECT x FROM \($0) UNION ALL SELECT x FROM \($0)" }, last: "x")),
    Attack(
      "doubling subqueries", refused,
      chain(22, first: "SELECT 1", { "SELECT (SELECT x FROM \($0)) + (SELECT x FROM \($0))" }, last: "x")),
    Attack(
      "joins of sixty", refused,
      chain(5, first: "SELECT 1", { name in "SELECT j0.x FROM \(list(60) { "\(name) j\($0)" })" }, last: "x")),
    Attack(
      "joined views", ["timeout", "too_large", "bad_query"],
      "(SELECT count(*) FROM \(list(30) { "wide w\($0)" }) WHERE w0.x)"),
    Attack(
      "conditions on columns", refused, "(SELECT 1 FROM t x, t y WHERE \(tree(0..<10_000, "AND") { _ in "x.a = y.b" }))"
    ),
    Attack(
      "conditions of many joins", ["timeout", "too_large", "ok"],
      "(WITH c AS (SELECT x.a AS p, y.b AS q FROM t x, t y WHERE \(tree(0..<400, "AND") { _ in "x.a = y.b" })) "
        + "SELECT 1 FROM \(list(30) { "c c\($0)" }))"),
    Attack(
      "comparisons", ["timeout", "too_large", "ok"], "(SELECT 1 FROM t WHERE \(tree(0..<10_000, "OR") { "a = \($0)" }))"
    ),
    Attack("a list of values", ["ok", "timeout"], "(SELECT 1 FROM t WHERE a IN (\(list(30_000) { "\($0)" })))"),
    Attack("rows of values", ["ok", "timeout"], "(SELECT count(*) FROM (VALUES \(list(25_000) { "(\($0))" })))"),
    Attack("aggregates", refused, "(SELECT \(tree(0..<6_000, "+") { "sum(a + \($0))" }) FROM t)"),
    Attack(
      "windows", refused,
      "(SELECT max(w) FROM (SELECT \(list(1_000) { "sum(id) OVER (PARTITION BY a, \($0) ORDER BY b) AS \($0 == 0 ? "w" : "w\($0)")" }) FROM t))"
    ),
    Attack(
      "a join of everything with everything", ["ok", "timeout"],
      "(SELECT 1 FROM \(list(60) { "t t\($0)" }) WHERE \(tree(0..<480, "AND") { "t\($0 % 60).a = t\($0 * 7 % 60).b" }))"
    ),
    Attack(
      "wide tables", ["ok", "timeout", "too_large", "bad_query"],
      "(WITH w AS (SELECT \(list(2_000) { "1 AS c\($0)" })) SELECT count(*) FROM (SELECT * FROM \(list(60) { "w w\($0)" })))"
    ),
    Attack(
      "wide tables in a chain", ["ok", "timeout", "too_large"],
      "(WITH w0 AS (SELECT \(list(1_900) { "1 AS c\($0)" })), \((1..<60).map { "w\($0) AS (SELECT * FROM w\($0 - 1))" }.joined(separator: ", ")) SELECT c1 FROM w59)"
    ),
    Attack(
      "parts of a recursion", ["timeout", "too_large"],
      "(WITH RECURSIVE r(x) AS (SELECT 1 \(list(18, " ") { _ in "UNION ALL SELECT x + 1 FROM r" })) SELECT count(*) FROM r)"
    ),
  ]

  private static let calling = [
    Attack("instr", ["ok", "timeout"], "instr(\(text(19)), \(text(17)) || 'b')"),
    Attack("instr of a long needle", ["ok", "timeout"], "instr(\(text(19)), \(text(18)) || 'b' || \(text(17)))"),
    Attack("replace", ["ok", "timeout"], "length(replace(\(text(20)), \(text(6)) || 'b', 'x'))"),
    Attack("replace by more", ["too_large"], "length(replace(\(text(18)), 'a', \(text(6))))"),
    Attack("replace everything", ["too_large"], "length(replace(\(text(20)), 'a', 'b'))"),
    Attack(
      "trim", ["too_large"], "trim(\(text(21)), 'bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789a')"),
    Attack("trim of a long set", ["too_large"], "rtrim(\(text(20)), \(text(18, "bcdefghijklmnopq")) || 'a')"),
    Attack("LIKE", ["too_large"], "\(text(20)) LIKE '%aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'"),
    Attack("LIKE with many wildcards", ["too_large"], "\(text(20)) LIKE '%a%_a%_aaaaaaaaaaaaaaaaaa%a_aaaaaaaaab%'"),
    Attack("like as a function", ["too_large"], "\"like\"('%aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', \(text(20)))"),
    Attack("LIKE of a prefix", ["ok"], "\(text(20)) LIKE 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab%'"),
    Attack("GLOB", ["too_large"], "\(text(20)) GLOB '*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'"),
    Attack("GLOB with sets", ["too_large"], "\(text(20)) GLOB '*[a-z]*[a-z][a-y][a-x][a-c][a-z][a-z][a-z][a-z]b'"),
    Attack(
      "json_patch", ["too_large"],
      "json_patch('{\"a\":1' || replace(\(text(13)), 'a', ',\"\":1') || '}', '{\"a\":1' || replace(\(text(13)), 'a', ',\"z\":1') || '}')"
    ),
    Attack("json_array_length", ["too_large"], "json_array_length('[' || replace(\(text(17)), 'a', '1,') || '1]')"),
    Attack(
      "json_tree", ["too_large", "timeout"],
      "(SELECT max(fullkey) FROM json_tree('[' || replace(\(text(17)), 'a', '1,') || '1]'))"),
    Attack("a format of a wide field", ["bad_query"], "length(printf('%.*c', 900000000, 'x'))"),
    Attack("a format that is made", ["bad_query"], "length(format('%' || '.*c', 900000000, 'x'))"),
    Attack("a format of times", ["too_large"], "length(strftime(replace(\(text(16)), 'a', '%J'), '2000-01-01'))"),
    Attack("hex", ["too_large"], "length(hex(\(text(21))))"),
    Attack("a number of many digits", ["ok", "too_large"], "CAST(\(text(21, "9999999999999999")) AS INTEGER)"),
    Attack(
      "calls one after the other", ["timeout", "too_large"],
      "(SELECT \(tree(0..<1_500, "+") { _ in "length(s)" }) FROM (SELECT DISTINCT \(text(21)) AS s))"),
    Attack(
      "comparisons one after the other", ["ok", "timeout", "too_large"],
      "(SELECT \(tree(0..<4_000, "+") { _ in "(s = r)" }) FROM (SELECT DISTINCT \(text(21)) AS s, \(text(20)) AS r))"),
  ]

  private static let running = [
    Attack(
      "a recursion", ["timeout"],
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)"),
    Attack(
      "texts that double", ["too_large"],
      "(WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM r) SELECT count(*) FROM r)"),
    Attack(
      "many long texts", ["too_large", "timeout"],
      "(WITH RECURSIVE r(n, s) AS (SELECT 1, \(text(18)) UNION SELECT n + 1, s || n FROM r) SELECT count(*) FROM r)"),
    Attack(
      "a long group_concat", ["too_large", "timeout"],
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT length(group_concat(\(text(16)))) FROM n)"
    ),
    Attack(
      "sorting", ["timeout", "too_large"],
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(s) FROM (SELECT count(*) AS s FROM n GROUP BY 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' || (i * 7919 % 1000003)))"
    ),
    Attack(
      "a window", ["timeout", "too_large"],
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(s) FROM (SELECT sum(i) OVER (ORDER BY i % 1000) AS s FROM n))"
    ),
    Attack(
      "a join", ["timeout"],
      "(SELECT count(*) FROM \(list(9) { "t t\($0)" }) WHERE length(\(list(9, " || ") { "t\($0).a" })) = 1)"),
  ]
}
