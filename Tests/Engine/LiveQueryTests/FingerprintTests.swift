import Testing

@testable import LiveQuery

@Suite struct FingerprintTests {
  private func query(_ change: (inout Query) -> Void = { _ in }) -> Query {
    var query = Query(from: "t")
    query.filter = "a = :a"
    query.orderBy = ["a", "b"]
    change(&query)
    return query
  }

  /// The fingerprint is a constant, because old logs must name the same queries.
  @Test func `A fingerprint is the same in every process`() {
    #expect(Fingerprint(of: query()).description == "66910f3f6c9578e6")
  }

  @Test func `Values, limits and who asks make no difference`() {
    let others = [
      query { $0.parameters = .named(["a": .text("x")]) }, query { $0.limit = 7 }, query { $0.access.role = "clerk" },
    ]
    for other in others { #expect(Fingerprint(of: other) == Fingerprint(of: query())) }
  }

  @Test func `Every text of a query makes a difference, and its place`() {
    let all = [
      query(), query { $0.from = "u" }, query { $0.filter = nil }, query { $0.filter = "a = :b" },
      query { $0.having = "a = :a" }, query { $0.select = ["a"] }, query { $0.groupBy = ["a"] },
      query { $0.key = ["a"] },
      query { $0.orderBy = ["ab"] }, query { $0.orderBy = ["a"] }, query { $0.sectionBy = .init("a") },
      query { $0.alongside = ["n": "s"] },
    ]
    #expect(Set(all.map { Fingerprint(of: $0) }).count == all.count)
    let statements = [["a", "b"], ["ab"], ["b", "a"]].map { list in
      Fingerprint(of: list.map { Transaction.Statement(sql: $0, parameters: .none) })
    }
    #expect(Set(statements).count == 3)
  }
}
