import GRDB
import LiveQuery
import Store
import Testing

@testable import Lists

/// Names of versions: the same for the same query, epoch and commit, and for nothing else.
@Suite struct VersionNamesTests {
  private func names(
    _ query: Query, _ rules: AccessRules = AccessRules(), epoch: String = "one"
  ) -> VersionNames {
    VersionNames(query, rules, .empty, epoch: epoch)
  }

  private let query: Query = {
    var query = Query(from: "t")
    query.filter = "a = :a"
    query.parameters = .named(["a": 1, "b": 2])
    return query
  }()

  @Test func `A name is read by whoever gives it, and by nobody else`() {
    let one = names(query)
    let name = one.name(at: 17)
    #expect(one.commit(of: name) == 17 && names(query).commit(of: name) == 17)
    #expect(names(query, epoch: "two").commit(of: name) == nil)
    var other = query
    other.parameters = .named(["a": 2, "b": 2])
    #expect(names(other).commit(of: name) == nil)
    other = query
    other.limit = 3
    #expect(names(other).commit(of: name) == nil)
  }

  @Test(arguments: ["", ".", "17", "x.17", "+", "-", "0", "+17", "017", "17.", "17.17", " 17", "99999999999999999999"])
  func otherSpellingsAreNoNames(commit: String) {
    let names = names(query)
    let prefix = names.name(at: 17).dropLast(2)
    #expect(names.commit(of: String(prefix) + commit) == (commit == "17" || commit == "0" ? Int64(commit) : nil))
    #expect(names.commit(of: commit) == nil)
  }

  @Test func `What a role may read is a part of the name`() {
    var asked = query
    asked.access.role = "clerk"
    let rules = { (rows: String?) in
      AccessRules(roles: ["clerk": .init(tables: ["t": .init(rows: rows), "u": .init(columns: ["a", "b"])])])
    }
    let name = names(asked, rules("a > 1")).name(at: 1)
    #expect(names(asked, rules("a > 1")).commit(of: name) == 1)
    #expect(names(asked, rules("a > 2")).commit(of: name) == nil)
    #expect(names(asked, rules(nil)).commit(of: name) == nil)
    var claimed = asked
    claimed.access.claims = ["claims_sub": "x", "claims_other": "y"]
    claimed.access.read = ["claims_sub"]
    var same = claimed
    same.access.claims["claims_other"] = "z"
    #expect(names(same).name(at: 1) == names(claimed).name(at: 1))
    same.access.claims["claims_sub"] = "z"
    #expect(names(same).name(at: 1) != names(claimed).name(at: 1))
  }

  @Test func `What the time decides is named by no commit`() {
    var timed = query
    timed.refreshEvery = .seconds(1)
    #expect(!names(timed).isByCommit && names(query).isByCommit)
    timed = query
    timed.parameters = .positional([1, "NOW"])
    #expect(!names(timed).isByCommit && names(timed).commit(of: names(query).name(at: 1)) == nil)
  }

  /// Two files, each with a view of the same name and a view that reads it.
  @Test(arguments: [
    ("SELECT date('now') AS d", false), ("SELECT strftime('%Y') AS d", false), ("SELECT datetime() AS d", false),
    ("SELECT random() AS d", false), ("SELECT current_timestamp AS d", false),
    ("SELECT hex(RandomBlob(3)) AS d", false),
    ("SELECT known, snow FROM t", true), ("SELECT row_number() OVER () FROM t", true), ("SELECT 'nowhere' AS d", true),
    ("SELECT date(d) FROM t -- not now", true), ("SELECT strftime('%Y', d) FROM t", true),
  ])
  func `A view that reads the clock or chance gives its queries' versions no commit`(view: String, isByCommit: Bool)
    throws
  {
    let database = try DatabaseQueue()
    let schema = try database.write { db in
      try db.execute(sql: "CREATE TABLE t (a, b, d, known, snow); CREATE TABLE u (a, b)")
      try db.execute(sql: "CREATE VIEW v AS \(view); CREATE VIEW w AS SELECT * FROM v")
      return try DatabaseSchema.read(db.sqliteConnection!)
    }
    for (table, expected) in [("v", isByCommit), ("w", isByCommit), ("t", true), ("u AS vv", true)] {
      #expect(VersionNames(Query(from: table), AccessRules(), schema, epoch: "one").isByCommit == expected)
    }
  }
}
