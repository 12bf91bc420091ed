import LiveQuery
import Testing

@testable import QueryCompiler
@testable import Store

/// Expressions that may be totaled, and the dependencies of a list with totals.
@Suite struct QueryTotalsTests {
  @Test(
    arguments: [
      "count(*)", "sum(a)", "round(avg(c), 1)", "100.0 * sum(a) / count(*)", "max(a) FILTER (WHERE b > 'x')",
      "count(DISTINCT b)", "max(a, c) + 1 - min(a)", "sum(max(a, c))", "coalesce(sum(d), 0)", "\"sum\"(a)",
      "sum(a) - (SELECT max(n) FROM u)", "sum(a IN (SELECT n FROM u))", "CASE WHEN count(*) > 1 THEN sum(a) END",
      "group_concat(b, ', ')", "sum(a * :factor)", "json_group_array(a)",
    ])
  func `Aggregates of rows are totals, alone and in expressions`(sql: String) throws {
    var query = Query(from: "t", select: ["b", "c AS d"], sectionBy: "b", totals: ["x": sql])
    if sql.contains(":factor") { query.parameters = ["factor": 2] }
    let isRefused = sql == "max(a, c) + 1 - min(a)"
    guard case .success(let compiled) = try CompilerFixture.compile(query) else {
      let refusal = try CompilerFixture.refusal(query)
      #expect(isRefused && refusal.contains("totals.x names a column outside of its aggregates"), "\(refusal)")
      return
    }
    #expect(!isRefused && compiled.hasTotals && !compiled.isRefetched)
  }

  @Test(
    arguments: [
      ("1", "bad_query: totals.x must be an aggregate of rows, such as count(*) or sum(depth)"),
      ("a", "bad_query: totals.x must be an aggregate of rows, such as count(*) or sum(depth)"),
      ("max(a, c)", "bad_query: totals.x must be an aggregate of rows, such as count(*) or sum(depth)"),
      ("(SELECT count(*) FROM u)", "bad_query: totals.x must be an aggregate of rows, such as count(*) or sum(depth)"),
      ("sum(a) OVER ()", "bad_query: totals.x must be an aggregate of rows, such as count(*) or sum(depth)"),
      ("a + count(*)", "bad_query: totals.x names a column outside of its aggregates: no such column: a"),
      (
        "sum(a) + (SELECT n FROM u WHERE n = c)",
        "bad_query: totals.x names a column outside of its aggregates: no such column: c"
      ),
      ("sum(nosuch)", "no_such_column: totals.x: no such column: nosuch"),
      (
        "sum(a)) FROM t; DROP TABLE t",
        "bad_query: totals.x is not a complete expression: it closes what it did not open"
      ),
      ("count(*), sum(a)", "bad_query: totals.x holds more than one expression: write a list"),
      ("SELECT count(*) FROM t", "bad_query: totals.x is not an expression but a statement"),
      ("sum(a) -- all", "bad_query: totals.x holds a comment"),
      ("count(*) + random()", "not_allowed: totals.x: the function random is not allowed"),
      ("sum(load_extension(b))", "not_allowed: totals.x: the function load_extension is not allowed"),
      ("sum((SELECT count(*) FROM sqlite_master))", "not_allowed: totals.x: the table sqlite_master is not served"),
      ("sum(a < date('now'))", "bad_query: totals.x: the result depends on the time"),
    ])
  func `What rows do not determine is refused`(sql: String, refusal: String) throws {
    let query = Query(from: "t", totals: ["x": sql])
    #expect(try CompilerFixture.refusal(query).hasPrefix(refusal))
  }

  @Test func `Lists that are cut off and lists of groups have no totals`() throws {
    let totals = ["n": "count(*)"]
    #expect(
      try CompilerFixture.refusal(Query(from: "t", limit: 3, totals: totals))
        == "bad_query: totals.n: a query with a limit has no totals")
    for query in [
      Query(from: "t", select: ["a"], groupBy: ["a"], totals: totals),
      Query(from: "t", select: ["count(*) AS c"], totals: totals),
    ] {
      #expect(try CompilerFixture.refusal(query).hasPrefix("bad_query: totals.n: the rows of this query are groups"))
    }
  }

  @Test func `A list depends on what its totals read`() throws {
    let compiled = try CompilerFixture.compile(Query(from: "t", select: ["a"], totals: ["x": "sum(c)"])).get()
    let table = try #require(compiled.tables.first)
    #expect(table.columns.sorted() == ["a", "c", "id"])
    let other = try CompilerFixture.compile(
      Query(from: "t", select: ["a"], totals: ["x": "sum(a > (SELECT max(n) FROM u))"])
    ).get()
    #expect(other.tables.map(\.name).sorted() == ["t", "u"])
    #expect(!compiled.plan.rows.scanSQL.contains("sum"))
    #expect(other.sentence.hasSuffix("totals are computed from all rows after each change."))
    #expect(compiled.sentence == "A changed row is read from the pages that its commit wrote.")
  }

  @Test func `Totals are a part of what a query is`() {
    let query = Query(from: "t")
    let totaled = Query(from: "t", totals: ["a": "count(*)"])
    #expect(query != totaled && totaled != Query(from: "t", totals: ["b": "count(*)"]))
    #expect(totaled != Query(from: "t", alongside: ["a": "count(*)"]))
    #expect(Fingerprint(of: query) != Fingerprint(of: totaled))
  }
}
