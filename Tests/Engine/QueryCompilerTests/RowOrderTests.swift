import LiveQuery
import Testing

@testable import QueryCompiler

/// The order of a list as clients get it: SQLite's terms in columns of the result.
@Suite struct RowOrderTests {
  private func order(_ change: (inout Query) -> Void, from: String = "t") throws -> RowOrder {
    var query = Query(from: from)
    change(&query)
    return try CompilerFixture.compile(query).get().order
  }

  private static func text(_ term: RowOrder.Term) -> String {
    var text = term.column ?? term.source.map { "source \($0)" } ?? "?"
    for call in term.calls {
      switch call {
      case .upper: text = "upper(\(text))"
      case .lower: text = "lower(\(text))"
      case .substr(let start, let length): text = "substr(\(text), \(start)\(length.map { ", \($0)" } ?? ""))"
      }
    }
    if term.collation != .binary { text += " \(term.collation.rawValue)" }
    if term.isDescending { text += " DESC" }
    if term.areNullsFirst == term.isDescending { text += term.areNullsFirst ? " NULLS FIRST" : " NULLS LAST" }
    return text
  }

  @Test(arguments: [
    (["a"], "a, id"), ([], "id"), (["t.a DESC", "\"b\""], "a DESC, b NOCASE, id"),
    (["b COLLATE binary desc nulls first"], "b DESC NULLS FIRST, id"),
    (["a COLLATE \"RTRIM\" NULLS LAST"], "a RTRIM NULLS LAST, id"),
    (["main.t.a"], "a, id"), (["rowid DESC"], "id DESC, id"), (["a + 1"], "?, id"), (["abs(a)"], "?, id"),
    (["lower(b)"], "lower(b), id"), (["upper(substr(a, 2)) DESC"], "upper(substr(a, 2)) DESC, id"),
    (["substr(t.b, 1, 1) COLLATE NOCASE"], "substr(b, 1, 1) NOCASE, id"), (["substr(a, -1)"], "?, id"),
    (["substr(a, 1, c)"], "?, id"),
    (["upper(a) || lower(b)"], "?, id"), (["upper(a + 1)"], "?, id"), (["\"odd \"\"name\""], "odd \"name, id"),
    (["desc"], "desc, id"),
  ])
  func `Terms of orderBy, then the key`(orderBy: [String], expected: String) throws {
    #expect(try order { $0.orderBy = orderBy }.terms.map(Self.text).joined(separator: ", ") == expected)
  }

  @Test(arguments: [
    (["a AS x"], ["x"], "x, id"), (["a AS x"], ["a"], "x, id"), (["a AS x"], ["t.a DESC"], "x DESC, id"),
    (["upper(b) AS b"], ["b"], "b, id"), (["upper(b) AS b"], ["t.b"], "source t.b NOCASE, id"),
    (["upper(b) AS b"], ["lower(b)"], "lower(source t.b), id"),
    (["a + c AS s"], ["a + c DESC"], "s DESC, id"), (["a + c AS s"], ["s COLLATE NOCASE"], "s NOCASE, id"),
    (["a + c AS s"], ["lower(s)"], "lower(s), id"),
    (["c"], ["a"], "source t.a, id"),
  ])
  func `Columns are named as the result names them`(select: [String], orderBy: [String], expected: String) throws {
    #expect(
      try order { ($0.select, $0.orderBy) = (select, orderBy) }.terms.map(Self.text).joined(separator: ", ") == expected
    )
  }

  @Test func `Joins, groups and other keys`() throws {
    let join = "t JOIN u ON u.n = t.a"
    #expect(
      try order({ $0.orderBy = ["n", "k"] }, from: join).terms.map(Self.text) == ["source u.n", "source u.k", "id"])
    let named = try order(
      { ($0.select, $0.orderBy) = (["t.b", "x.n AS m"], ["x.n DESC"]) }, from: "t JOIN u AS x ON x.n = t.a")
    #expect(named.terms.map(Self.text) == ["m DESC", "id"])
    let either = try order(
      { ($0.select, $0.key, $0.orderBy) = (["k"], ["k"], ["a"]) }, from: "t FULL JOIN u ON u.n = t.a")
    #expect(either.terms.map(Self.text) == ["?", "k"])
    let grouped = try order {
      ($0.select, $0.groupBy, $0.orderBy) = (["b", "count(*) AS n"], ["b"], ["count(*) DESC"])
    }
    #expect(grouped.terms.map(Self.text) == ["n DESC", "b NOCASE"])
    #expect(try order({ $0.orderBy = ["n"] }, from: "u").terms.map(Self.text) == ["n", "k"])
    #expect(
      try order { ($0.select, $0.orderBy, $0.refreshEvery) = (["random() AS r"], ["random()"], .seconds(1)) }.terms.map(
        Self.text) == ["?", "id"])
  }

  @Test(arguments: [
    ("b", nil, "b NOCASE", true), ("substr(b, 1, 1)", nil, "substr(b, 1, 1)", true), ("a + 1", nil, "?", true),
    ("CASE a WHEN 'x' THEN 0 END", "a", "a", false), ("a", "upper(b)", "upper(b)", false),
  ])
  func `Sections are told by their names`(by: String, name: String?, expected: String, isSorted: Bool) throws {
    let order = try order {
      $0.sectionBy = Query.SectionBy(by)
      $0.sectionBy?.name = name
    }
    #expect(order.section.map(Self.text) == expected && order.sortsSections == isSorted)
    #expect(try self.order { _ in }.section == nil)
  }
}
