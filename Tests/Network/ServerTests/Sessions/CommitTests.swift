import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// The number of the database state that a transaction leads to.
@Suite struct CommitTests {
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 0);"

  /// Whether the file is in WAL mode, and whether clients write over a socket or HTTP.
  @Test(arguments: [true, false], [true, false])
  func `A subscription that has reached the commit of a transaction shows it`(isWAL: Bool, overHTTP: Bool) throws {
    let live = try LiveServer(Self.schema, isWAL: isWAL) { $0.access.allowsWrites = true }
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

  @Test(arguments: [true, false]) func `Followers agree on the number of a state`(isWAL: Bool) throws {
    let live = try LiveServer(Self.schema, isWAL: isWAL) { $0.limits.followers = 3 }
    let client = try live.connect()
    // Different query texts, so that several followers have them.
    let ids = (0..<9).map { "q\($0)" }
    for (number, id) in ids.enumerated() { try client.subscribe(id, #"{"from":"t","where":"id > -\#(number)"}"#) }
    var before: Int64 = 0
    for value in 1...20 {
      // Another process makes several commits, some of them followed together.
      for part in 0..<(value % 3 + 1) { try live.writer.run("UPDATE t SET a = \(value * 10 + part)") }
      let last = "''/: 1,\(value * 10 + value % 3)"
      while ids.contains(where: { client.line($0) != last }) { try client.receive() }
      let commits = Set(ids.map { client.models[$0]!.commit })
      #expect(commits.count == 1, "\(commits)")
      #expect(commits.first! > before)
      before = commits.first!
    }
    live.stop()
  }
}
