import LiveQuery
import TerminalWatch
import Testing
import Wire

/// Queries as a command line gives them.
@Suite struct WatchQueryTests {
  private func text(_ change: (inout WatchQuery) -> Void) throws -> String {
    var query = WatchQuery()
    change(&query)
    return try query.json().jsonText
  }

  @Test func `Queries`() throws {
    #expect(try text { $0.query = "well" } == #"{"from":"well"}"#)
    for sql in ["SELECT 1", " with x AS (SELECT 1) SELECT * FROM x", "Values(1)"] {
      #expect(try text { $0.query = sql } == "{\"sql\":\"\(sql)\"}")
    }
    for table in ["selected", "with", "values, t"] {
      #expect(try text { $0.query = table } == "{\"from\":\"\(table)\"}")
    }
    #expect(try text { $0.query = " {\"from\": \"t\", \"limit\": 3}" } == #"{"from":"t","limit":3}"#)
    #expect(
      try text {
        $0.query = "t"
        $0.select = ["a, max(b, ',')", "\"x,y\""]
        $0.orderBy = ["a DESC"]
        $0.filter = "a > :n"
        $0.sectionBy = "b"
        $0.parameters = ["n=1", "m=x=y", "r=1.5", "e="]
      }
        == #"{"from":"t","orderBy":["a DESC"],"params":{"e":"","m":"x=y","n":1,"r":1.5},"sectionBy":"b","#
        + #""select":["a"," max(b, ',')","\"x,y\""],"where":"a > :n"}"#)
    #expect(
      try text {
        $0.query = #"{"from": "t", "totals": {"m": "max(a)"}}"#
        $0.totals = ["n=count(*)", "eq=sum(a = 1)"]
      } == #"{"from":"t","totals":{"eq":"sum(a = 1)","m":"max(a)","n":"count(*)"}}"#)
    #expect(
      try text {
        $0.name = "banks"
        $0.parameters = ["state=GA"]
      } == #"{"name":"banks","params":{"state":"GA"}}"#)
  }

  /// A member without an option would need JSON.
  @Test func `Every member of a query has an option`() throws {
    let json = try text {
      $0.query = "t"
      $0.select = ["a"]
      $0.filter = "a > 1"
      $0.groupBy = ["a, b", "c"]
      $0.having = "count(*) > 1"
      $0.orderBy = ["a"]
      $0.sectionBy = "b"
      $0.key = ["a", "b"]
      $0.top = 3
      $0.refreshEvery = 2.5
      $0.totals = ["n=count(*)"]
      $0.alongside = ["x=SELECT 1"]
      $0.parameters = ["p=1"]
    }
    guard case .object(var members) = try JSONParser.parse(json) else { return #expect(Bool(false)) }
    #expect(Set(members.keys).union(["sql"]) == Set(Query.members))
    #expect(members["groupBy"]?.jsonText == #"["a"," b","c"]"#)
    #expect(try text { $0.sql = "SELECT 1" } == #"{"sql":"SELECT 1"}"#)
    // Without `sectionBy`, the members are a valid query.
    members["sectionBy"] = nil
    _ = try Query(json: .object(members))
  }

  @Test func `What is no query is refused`() {
    #expect(throws: WatchQueryError.self) { try text { ($0.query, $0.sql) = ("t", "SELECT 1") } }
    #expect(throws: WatchQueryError.self) { try text { _ in } }
    #expect(throws: WatchQueryError.self) { try text { ($0.query, $0.name) = ("t", "n") } }
    #expect(throws: WatchQueryError.self) { try text { $0.query = "{nonsense" } }
    #expect(throws: WatchQueryError.self) { try text { ($0.query, $0.parameters) = ("t", ["=1"]) } }
    #expect(throws: WatchQueryError.self) { try text { ($0.query, $0.parameters) = ("t", ["x"]) } }
    #expect(throws: WatchQueryError.self) { try text { ($0.query, $0.totals) = ("t", ["count(*)"]) } }
  }
}
