import GRDB
import ServerSupport
import TestSupport
import Testing

/// The rowid of a table with another key, which no column shows, and its names.
@Suite struct HiddenRowidTests {
  private static let schema = """
    CREATE TABLE t(k TEXT PRIMARY KEY, a); INSERT INTO t VALUES ('x', 1), ('y', 2), ('z', 3);
    CREATE TABLE u(id INTEGER PRIMARY KEY, r INT); INSERT INTO u VALUES (1, 1), (2, 3), (3, 9);
    CREATE TABLE p(id INTEGER PRIMARY KEY, oid TEXT, a); INSERT INTO p VALUES (1, 'one', 1), (3, 'three', 3);
    CREATE TABLE q(a); INSERT INTO q VALUES (1), (2), (3);
    """

  @Test(
    arguments: [
      OracleQuery(
        table: "t", keys: ["t.k"], select: ["t.rowid AS r"], filter: nil, section: nil, orderBy: [], limit: nil,
        window: nil),
      OracleQuery(
        table: "t", keys: ["t.k"], select: ["a"], filter: "t.rowid > 2", section: nil, orderBy: ["t.oid DESC"],
        limit: nil,
        window: nil),
      OracleQuery(
        table: "u LEFT JOIN t ON t.rowid = u.r", keys: ["u.id"], select: ["t.k", "t.a"], filter: nil, section: nil,
        orderBy: [], limit: nil, window: nil),
      OracleQuery(
        table: "t JOIN u ON u.r = t._rowid_", keys: ["t.k"], select: ["u.id"], filter: nil, section: nil, orderBy: [],
        limit: nil, window: nil),
    ]
      + ["p.rowid", "p._rowid_", "p.id", "p.oid", "q.rowid", "q._rowid_", "q.oid"].map { name in
        OracleQuery(
          table: "u LEFT JOIN \(name.prefix(1)) ON \(name) = u.r", keys: ["u.id"], select: ["\(name.prefix(1)).a"],
          filter: nil,
          section: nil, orderBy: [], limit: nil, window: nil)
      })
  func isFollowed(query: OracleQuery) throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("q", query.json)
    for commit in [
      "UPDATE t SET rowid = 9 WHERE k = 'x'", "UPDATE t SET rowid = 1, a = 5 WHERE k = 'z'",
      "UPDATE t SET rowid = rowid + 1", "UPDATE t SET oid = 3, k = 'w' WHERE k = 'y'", "DELETE FROM t WHERE rowid = 3",
      "INSERT INTO t(rowid, k) VALUES (3, 'v')", "UPDATE t SET _rowid_ = -rowid", "VACUUM",
      "DELETE FROM p WHERE id = 1; DELETE FROM q WHERE rowid = 1",
      "UPDATE p SET rowid = 9; UPDATE q SET oid = 9 WHERE a = 3",
      "UPDATE p SET oid = 3", "DELETE FROM p; DELETE FROM q",
    ] {
      try live.writer.run(commit)
      try client.catchUp(["q"])
      let answer = try live.queue.read { try query.answer($0) }
      #expect(client.models["q"]?.difference(from: answer) == nil, "\(commit)")
    }
    live.stop()
  }
}
