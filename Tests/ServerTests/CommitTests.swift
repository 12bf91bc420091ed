import Server
import TestSupport
import Testing
import Wire

/// The number of the database state that a transaction leads to.
@Suite struct CommitTests {
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 0);"

  /// The journal mode, and over which way clients write.
  @Test(arguments: [true, false], [true, false])
  func `A subscription that has reached the commit of a transaction shows it`(isWAL: Bool, overHTTP: Bool) throws {
    let live = try LiveServer(Self.schema, isWAL: isWAL) { $0.allowsWrites = true }
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    var last: Int64 = 0
    for value in 1...10 {
      // Another process writes in between.
      if value % 3 == 0 { try live.writer.run("INSERT INTO t VALUES (\(value + 100), 0)") }
      let statements = "[{\"sql\":\"UPDATE t SET a = \(value) WHERE id = 1\"}]"
      let answer: JSONValue
      if overHTTP {
        let body = "{\"statements\":\(statements)}"
        answer = try JSONParser.parse(try live.http("POST", "/v1/transactions", body: body).body)
      } else {
        try client.send("{\"type\":\"transact\",\"id\":\"w\",\"statements\":\(statements)}")
        answer = try client.receive("committed")
      }
      #expect(answer["changes"] == .integer(1))
      let commit = try Int64(answer.required("commit").int())
      #expect(commit > last)
      last = commit
      while client.models["q"]!.commit < commit { try client.receive() }
      #expect(client.line("q").hasPrefix("''/: 1,\(value)"))
    }
    live.stop()
  }
}
