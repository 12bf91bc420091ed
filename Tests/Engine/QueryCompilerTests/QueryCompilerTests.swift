import Foundation
import GRDB
import LiveQuery
import Synchronization
import Testing

@testable import QueryCompiler
@testable import Store

/// The SQL that clients may write into a query, and the errors for other SQL: code, fragment and SQLite's own message.
@Suite struct QueryCompilerTests {
  private func compile(_ query: Query) throws -> Result<CompiledQuery, FreshetError> {
    try CompilerFixture.compile(query)
  }

  private func refusal(_ query: Query) throws -> String { try CompilerFixture.refusal(query) }

  private func query(_ place: String, _ text: String) -> Query { CompilerFixture.query(place, text) }

  private static let expressionPlaces = [
    "select[0]", "where", "sectionBy", "sectionBy.indexTitle", "orderBy[0]", "key[0]",
  ]

  // MARK: - Rows that are known to be in the result

  /// SQLite would run a subquery of `where` again for each row that it looks up, which takes a quarter of a second if
  /// the search finds a million rows.
  @Test func `A row that is known to be there is looked up without the subqueries that found it`() throws {
    func unit(_ from: String, where filter: String?, select: [String] = []) throws -> ResultPlan.Unit? {
      var query = Query(from: from)
      (query.filter, query.select) = (filter, select)
      return try compile(query).get().plan.unit
    }
    let searched = try #require(try unit("t", where: "id IN (SELECT rowid FROM f WHERE f MATCH 'x' LIMIT 9)"))
    #expect(searched.rowSQL.contains("MATCH"))
    let known = try #require(searched.knownRowSQL)
    #expect(!known.contains("MATCH") && known.contains("?\(searched.firstParameter)"))
    // A cheap condition stays; with joined tables, conditions identify the row.
    #expect(try unit("t", where: "a > 1")?.knownRowSQL == nil)
    #expect(try unit("t", where: nil, select: ["(SELECT max(n) FROM u) AS m"])?.knownRowSQL == nil)
    #expect(try unit("t JOIN u ON u.n = t.a", where: "t.id IN (SELECT n FROM u)")?.knownRowSQL == nil)
  }

  // MARK: - Refused

  @Test(
    arguments: expressionPlaces,
    [
      ("nosuch", "no_such_column", "no such column: nosuch"),
      ("t.nosuch", "no_such_column", "no such column: t.nosuch"),
      ("u.n", "no_such_column", "no such column: u.n"),
      ("1) OR (1", "bad_query", "is not a complete expression: it closes what it did not open"),
      ("(1", "bad_query", "is not a complete expression: a parenthesis is left open"),
      ("1;", "bad_query", "holds a semicolon"),
      ("1; DROP TABLE t", "bad_query", "holds a semicolon"),
      ("a -- all", "bad_query", "holds a comment"),
      ("a /* all */", "bad_query", "holds a comment"),
      ("a /* all", "bad_query", "holds something that does not end: /* all"),
      ("'a", "bad_query", "holds something that does not end: 'a"),
      ("\"a", "bad_query", "holds something that does not end: \"a"),
      ("[a", "bad_query", "holds something that does not end: [a"),
      ("a, b", "bad_query", "holds more than one expression: write a list"),
      ("", "bad_query", "is empty"),
      ("SELECT 1", "bad_query", "is not an expression but a statement"),
      ("nosuch(1)", "bad_query", "no such function: nosuch"),
      ("substr(a)", "bad_query", "wrong number of arguments to function substr()"),
      ("a +", "bad_query", "syntax error"),
      ("(a, b)", "bad_query", "row value misused"),
      ("load_extension('x')", "not_allowed", "the function load_extension is not allowed"),
      ("random()", "not_allowed", "the function random is not allowed"),
      ("randomblob(9)", "not_allowed", "the function randomblob is not allowed"),
      ("last_insert_rowid()", "not_allowed", "the function last_insert_rowid is not allowed"),
      ("sqlite_version()", "not_allowed", "the function sqlite_version is not allowed"),
      ("fts3_tokenizer('simple')", "not_allowed", "the function fts3_tokenizer is not allowed"),
      ("CURRENT_TIMESTAMP", "not_allowed", "the function current_timestamp is not allowed"),
      ("datetime('now')", "bad_query", "the result depends on the time"),
      ("date()", "bad_query", "the result depends on the time"),
      ("strftime('%s')", "bad_query", "the result depends on the time"),
      ("RAISE(ABORT, 'x')", "bad_query", "RAISE() may only be used within a trigger-program"),
      (":nosuch", "bad_query", "the parameter :nosuch has no value in params"),
      ("?", "bad_query", "the parameter ? needs params to be an array"),
    ])
  func refusesExpression(place: String, fragment: (text: String, code: String, message: String)) throws {
    let answer = try refusal(query(place, fragment.text))
    #expect(answer.hasPrefix("\(fragment.code): "), "\(answer)")
    if !fragment.message.hasPrefix("the parameter") { #expect(answer.contains(place), "\(answer) names no fragment") }
    #expect(answer.contains(fragment.message), "\(answer)")
  }

  @Test(arguments: [
    ("nosuch", "no_such_table: from: no such table: nosuch"),
    ("order", "no_such_table: from: no such table: order"), ("group", "no_such_table: from: no such table: group"),
    ("\"no such\"", "no_such_table: from: no such table: no such"),
    ("", "bad_query: from is empty"),
    ("w", "bad_query: key is needed: w has no key of its own"),
    ("(SELECT 1)", "bad_query: key is needed: a subquery has no key of its own"),
    ("SELECT 1", "bad_query: from is not an expression but a statement"),
    ("t INDEXED BY i", "bad_query: from: no such index: i"), ("t INDEXED", "bad_query: from: incomplete input"),
    ("t NOT", "bad_query: from: incomplete input"),
    ("t WHERE 1", "bad_query: from: near \"WHERE\": syntax error"),
    ("t ORDER BY 1", "bad_query: from: near \"ORDER\": syntax error"),
    ("t UNION SELECT * FROM t", "bad_query: from: near \"UNION\": syntax error"),
    ("t) WHERE (1", "bad_query: from is not a complete expression"),
    ("t LIMIT 1", "bad_query: from: near \"LIMIT\": syntax error"),
    ("t; DROP TABLE t", "bad_query: from holds a semicolon"),
    ("t --", "bad_query: from holds a comment"),
    ("t JOIN nosuch", "no_such_table: from: no such table: nosuch"),
    ("t JOIN u ON t.z = u.n", "no_such_column: from: no such column: t.z"),
    ("(SELECT * FROM _freshet_log)", "not_allowed: from: the table _freshet_log is not served"),
    ("t JOIN sqlite_master", "not_allowed: from: the table sqlite_master is not served"),
    ("t, pragma_table_info('t')", "not_allowed: from: "),
    ("pragma_table_info('t')", "not_allowed: from: "),
    ("pragma_database_list", "not_allowed: from: "),
    ("sqlite_master", "not_allowed: from: the table sqlite_master is not served"),
    ("SQLITE_SCHEMA", "not_allowed: from: the table "),
    ("sqlite_temp_master", "not_allowed: from: "),
    ("_freshet_log", "not_allowed: from: the table _freshet_log is not served"),
    ("\"_FRESHET_meta\"", "not_allowed: from: the table "),
    ("temp.t", "not_allowed: from: only the schema main is served"),
    ("aux.t", "not_allowed: from: only the schema main is served"),
    ("dbstat", "not_allowed: from"), ("sqlite_dbpage", "no_such_table: from: no such table: sqlite_dbpage"),
  ])
  func refusesTable(from: String, refusal expected: String) throws {
    let answer = try refusal(Query(from: from))
    #expect(answer.hasPrefix(expected), "\(answer)")
  }

  @Test(arguments: [
    ("1", "orderBy[0]: name a column; 1 is a constant"),
    ("2 DESC", "orderBy[0]: name a column; 2 is a constant"),
    ("a COLLATE nosuch", "orderBy[0]: no such collation sequence: nosuch"), ("DESC NULLS LAST", ""),
    ("a NULLS", "orderBy[0]: near"), ("a ASC DESC", "orderBy[0]: near"),
    ("a DESC NULLS FIRST LAST", "orderBy[0]: near"), ("NULLS FIRST", "orderBy[0]: "),
  ])
  func refusesSortTerm(term: String, message: String) throws {
    let answer = try refusal(query("orderBy[0]", term))
    if message.isEmpty {
      #expect(answer.hasPrefix("accepted"), "\(answer)")
    } else {
      #expect(answer.hasPrefix("bad_query: \(message)"), "\(answer)")
    }
  }

  @Test(arguments: [
    ("EXISTS (SELECT 1 FROM a WHERE t = 'b')", "a"), ("x IN c AND y IN ('d', e)", "c"),
    ("(SELECT 1 FROM a, main.b AS q JOIN 'c' ON a.x = d, e WHERE f IN (SELECT g FROM h))", "a b 'c' e h"),
    ("x IS NOT DISTINCT FROM y AND a = (SELECT count(*) FROM (b JOIN c), d ORDER BY e, f)", "b c d"),
    ("(WITH c AS (SELECT x, y FROM t GROUP BY u, v) SELECT max(x) FROM c)", "t c"),
  ])
  func findsWhereTablesAreNamed(text: String, names: String) throws {
    let fragment = try SQLFragment(text, place: "where")
    #expect(
      fragment.tablePlaces.sorted().map { fragment.text(of: fragment.tokens[$0]) }.joined(separator: " ") == names)
  }

  @Test(arguments: [
    ("a = 1", "a = 1"), ("a = 1 AND b BETWEEN 2 AND 3 AND c", "a = 1 | b BETWEEN 2 AND 3 | c"),
    ("((a AND b) AND (c OR d AND e))", "a | b | c OR d AND e"), ("a OR b AND c", "a OR b AND c"),
    ("CASE WHEN a AND b THEN c END AND (d, e) = (f, g)", "CASE WHEN a AND b THEN c END | (d, e) = (f, g)"),
    ("NOT (a AND b) AND (SELECT 1 WHERE c AND d)", "NOT (a AND b) | (SELECT 1 WHERE c AND d)"),
  ])
  func takesConjunctionsApart(text: String, parts: String) throws {
    let fragment = try SQLFragment(text, place: "where")
    #expect(fragment.conjuncts.map { fragment.text(of: $0) }.joined(separator: " | ") == parts)
  }

  @Test func refusesTwoColumnsOfOneName() throws {
    var query = Query(from: "t")
    query.select = ["a", "b AS a"]
    #expect(try refusal(query) == "bad_query: two columns are named a: use AS")
  }

  @Test(arguments: [
    (Query.Parameters.named(["a": .null, "z": .null]), ":a IS NULL", "params.z is used nowhere in the query"),
    (.named([:]), ":a IS NULL", "the parameter :a has no value in params"),
    (.none, "? IS NULL", "the parameter ? needs params to be an array"),
    (.positional([]), "? IS NULL", "the parameter number 1 has no value in params"),
    (.positional([.null]), "? IS ?", "the parameter number 2 has no value in params"),
    (.positional([.null]), "?3 IS NULL", "the parameter ?3 has no value in params"),
    (.positional([.null, .null]), "? IS NULL", "params has 2 values, the query uses 1"),
    (.positional([.null]), ":a IS NULL", "the parameter :a has no value in params"),
    (.positional([.null]), "?0 IS NULL", "the parameter ?0 has no value in params"),
    (.positional([.null]), "?99999999999999999999 IS NULL", "has no value in params"),
  ])
  func refusesParameters(parameters: Query.Parameters, filter: String, message: String) throws {
    var query = Query(from: "t")
    query.filter = filter
    query.parameters = parameters
    let answer = try refusal(query)
    #expect(answer.hasPrefix("bad_query: ") && answer.hasSuffix(message), "\(answer)")
  }

  // MARK: - Bounds

  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return Double((ContinuousClock.now - start).components.attoseconds) / 1e18
      + Double((ContinuousClock.now - start).components.seconds)
  }

  @Test(arguments: [
    ("nested parentheses", String(repeating: "(", count: 50_000) + "1" + String(repeating: ")", count: 50_000)),
    ("a chain of sums", "1" + String(repeating: "+1", count: 20_000)),
    ("a chain of negations", String(repeating: "NOT ", count: 20_000) + "1"),
    ("nested calls", String(repeating: "abs(", count: 10_000) + "1" + String(repeating: ")", count: 10_000)),
    ("long text", "a = '" + String(repeating: "x", count: 900_000) + "'"),
    ("a long list", "a IN (1" + String(repeating: ",1", count: 400_000) + ")"),
    ("many words", String(repeating: "a ", count: 400_000)),
    ("many parameters", "?1" + String(repeating: "+?1", count: 300_000)),
  ])
  func refusesWhatIsTooLargeSoon(description: String, text: String) throws {
    var answer = ""
    var query = query("where", text)
    if text.hasPrefix("?") { query.parameters = .positional([.null]) }
    let seconds = try seconds { answer = try refusal(query) }
    #expect(answer.hasPrefix("bad_query: ") || answer.hasPrefix("too_large: "), "\(answer.prefix(200))")
    #expect(answer.utf8.count < 2_000, "an error message of \(answer.utf8.count) bytes")
    #expect(seconds < 15, "\(description) took \(seconds) s")
  }

  @Test(arguments: ["select", "orderBy", "key"])
  func refusesLongListsSoon(member: String) throws {
    var query = Query(from: "t")
    let list = (0..<200_000).map { "a+\($0)" }
    switch member {
    case "select": query.select = list
    case "orderBy": query.orderBy = list
    default: query.key = list
    }
    var answer = ""
    let seconds = try seconds { answer = try refusal(query) }
    let isRefused = ["bad_query: \(member)", "too_large: \(member)", "timeout:"].contains { answer.hasPrefix($0) }
    #expect(isRefused, "\(answer)")
    #expect(seconds < 15, "\(seconds) s")
  }

  @Test func refusesNamesThatGrowWithoutEnd() throws {
    var query = Query(from: "t")
    query.select = ["'\(String(repeating: "x", count: 200_000))' AS x"]
    query.filter = "x IN (x\(String(repeating: ",x", count: 200_000)))"
    var answer = ""
    let seconds = try seconds { answer = try refusal(query) }
    // On a slow processor, the time limit is reached before the text is too long.
    #expect(answer.hasPrefix("too_large: where") || answer.hasPrefix("timeout:"), "\(answer.prefix(200))")
    #expect(seconds < 15, "\(seconds) s")
  }

  // MARK: - Accepted

  @Test(
    arguments: expressionPlaces,
    [
      "a", "t.a", "\"a\"", "[a]", "`a`", "\"odd \"\"name\"", "\"t\".\"desc\"", "main.t.a", "rowid", "a IS NULL",
      "CASE WHEN a > 1 THEN 'x' ELSE b END", "a IN (1, 2, 3)", "a NOT IN ()", "a BETWEEN 1 AND 2", "b LIKE 'x%'",
      "CAST(a AS TEXT)", "b COLLATE NOCASE", "json_extract(b, '$.x')", "b ->> '$.x'", "max(a, c)", "';'", "'--'", "')'",
      "a||','||b", "datetime(a)", "strftime('%Y', a)", "x'00ff'", "(a, b) = (1, 2)", "iif(a, b, c)", "1e3 + a", "NOT a",
      "b GLOB '[' || 'a]'", "printf('%s', a)", "a ISNULL", "a COLLATE binary",
    ])
  func accepts(place: String, text: String) throws {
    let answer = try refusal(query(place, text))
    #expect(answer.hasPrefix("accepted"), "\(answer)")
  }

  @Test(arguments: [
    ("t", ["*"], "id,a,b,c,desc,odd \"name"), ("t", [], "id,a,b,c,desc,odd \"name"),
    ("t", ["t.*"], "id,a,b,c,desc,odd \"name"), ("t AS x", ["x.*"], "id,a,b,c,desc,odd \"name"),
    ("t", ["a AS x"], "id,x"), ("t", ["a x"], "id,x"), ("t", ["a \"x y\""], "id,x y"), ("t", ["a 'x'"], "id,x"),
    ("t", ["a + 1"], "id,a + 1"), ("t", ["\"a\""], "id,a"), ("t", ["t.a"], "id,a"), ("t", ["b", "id"], "id,b"),
    ("t", ["a AS x", "id AS y"], "y,x"), ("t", ["id + 0 AS id2"], "id,id2"), ("t", ["rowid"], "id"),
    ("t", ["oid AS r", "a"], "r,a"),
    ("u", ["n"], "k,n"), ("main.t x", ["x.a"], "id,a"), ("\"t\" AS \"x y\"", ["\"x y\".a"], "id,a"),
    ("T", ["A"], "id,a"), ("t", ["a", "*"], ""), ("t", ["a COLLATE NOCASE AS n"], "id,n"),
    ("t", ["CASE a WHEN 1 THEN 2 END"], "id,CASE a WHEN 1 THEN 2 END"), ("t", ["a ISNULL"], "id,a ISNULL"),
    ("t", ["a AS \"x\"\"y\""], "id,x\"y"), ("t", ["a AS [x]"], "id,x"), ("t", ["x'00'"], "id,x'00'"),
  ])
  func namesColumnsAsSQLiteDoes(from: String, select: [String], columns: String) throws {
    var query = Query(from: from)
    query.select = select
    switch try compile(query) {
    case .success(let compiled): #expect(compiled.columns.joined(separator: ",") == columns)
    case .failure(let error): #expect(columns.isEmpty, "\(error)")
    }
  }
}
