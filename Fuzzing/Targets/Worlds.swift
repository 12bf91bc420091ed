// Failures here end the process, because nothing can be fuzzed without the files.
// swift-format-ignore-file: NeverUseForceTry

import CSQLite
import Foundation
import GRDB
import LiveQuery

@testable import QueryCompiler
@testable import Store

/// For each role two databases of one schema that show it the same, and differ in all that they hide from it.
final class Worlds {
  /// Every hidden text has it.
  static let marker = "zqhidden"
  /// The last of them may read everything.
  static let roleCount = 3

  struct Role {
    let schema: RoleSchema
    let checker: FragmentChecker
    let databases: [WorldDatabase]
  }

  let roles: [Role]

  private static let rules: [AccessRules.Role] = [
    // Rows and columns.
    .init(tables: [
      "account": .init(rows: "owner = :claims_sub", columns: ["id", "owner", "region", "balance"]),
      "entry": .init(
        rows: "EXISTS (SELECT 1 FROM account WHERE account.id = entry.account_id AND owner = :claims_sub)",
        columns: ["account_id", "n", "memo"]),
      "item": .init(), "log": .init(rows: "x < 10"), "part": .init(columns: ["a", "b"]),
      "doc": .init(rows: "rowid IN (SELECT id FROM account WHERE owner = :claims_sub)", columns: ["title"]),
      "page": .init(rows: "rowid <= 2"), "owned": .init(),
      "sums": .init(rows: "owner = :claims_sub", columns: ["owner", "total"]),
    ]),
    // Rows of some tables, columns of others.
    .init(tables: [
      "account": .init(columns: ["id", "region"]), "entry": .init(columns: ["n", "memo"]), "item": .init(),
      "log": .init(rows: "EXISTS (SELECT 1 FROM vault) AND x < 10"),
      "part": .init(rows: "a > 0 AND c = 'c'", columns: ["b"]), "sums": .init(columns: ["owner"]),
    ]),
  ]

  init() {
    ConnectionLimits.prepare()
    let folder = NSTemporaryDirectory() + "freshet-fuzz-\(getpid())"
    try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try! FileManager.default.removeItem(atPath: folder) }
    roles = (0..<Worlds.roleCount).map { role in
      let paths = (0..<2).map { "\(folder)/\(role)-\($0).sqlite" }
      for (world, path) in paths.enumerated() { Worlds.make(path, role: role, world) }
      let schema = try! DatabaseQueue(path: paths[0]).read { try DatabaseSchema.read($0.sqliteConnection!) }
      let tables =
        role < Worlds.rules.count
        ? try! RoleSchema(Worlds.rules[role], isPublished: false, schema) : RoleSchema(unrestricted: schema)
      let checker = try! FragmentChecker(path: paths[0], role: tables)
      // From here on the files are open, and the folder may go.
      _ = try! QueryCompiler.compile(Query(from: "item"), checker: checker)
      return Role(schema: tables, checker: checker, databases: paths.map { WorldDatabase($0) })
    }
  }

  private static let schema = """
    CREATE TABLE account(id INTEGER PRIMARY KEY, owner TEXT COLLATE NOCASE, region TEXT, balance INT, note TEXT);
    CREATE TABLE entry(account_id INT, n INT, memo TEXT, secret TEXT, PRIMARY KEY(account_id, n)) WITHOUT ROWID;
    CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);
    CREATE TABLE log(x INT, y TEXT);
    CREATE TABLE part(a INT UNIQUE, b TEXT, c TEXT, d TEXT AS (upper(c)), "e ""f" TEXT);
    CREATE TABLE vault(id INTEGER PRIMARY KEY, code TEXT);
    CREATE VIRTUAL TABLE doc USING fts5(title, body);
    CREATE VIRTUAL TABLE page USING fts5(text);
    CREATE VIEW owned(id, memo) AS SELECT a.id, e.memo FROM account AS a JOIN entry AS e ON e.account_id = a.id;
    CREATE VIEW sums AS SELECT owner, sum(balance) AS total, count(*) AS most FROM account GROUP BY owner;
    CREATE INDEX account_region ON account(region);
    """

  /// - Parameter world: 0 or 1. Rows that the role may read stand in the same order in both.
  private static func make(_ path: String, role: Int, _ world: Int) {
    // In one world what is hidden is JSON and a modest number; in the other functions fail on it.
    let hidden = world == 0 ? "'\"\(marker)\"'" : "'\(marker) {'"
    let number = 7_654_321 + 11 * world
    let extreme = world == 0 ? "7" : "-9223372036854775807 - 1"
    // The column that one role may not read in its rows.
    let amount = role == 0 ? "10" : "\(number)"
    let part = role == 0 ? 1 : 100 * world + 1
    var sql = """
      INSERT INTO item VALUES (1, 'one', 1.5), (2, 'two', NULL), (3, 'x', 3e9);
      INSERT INTO vault VALUES (\(number), \(hidden));
      INSERT INTO account VALUES (1, 'ann', 'n', \(amount), \(hidden)), (2, 'ann', 's', \(amount), \(hidden));
      INSERT INTO entry VALUES (1, 1, '1', \(hidden)), (1, 2, '2', \(hidden)), (2, 1, '{}', \(hidden));
      INSERT INTO log VALUES (1, 'a'), (2, 'b'), (2, 'b');
      INSERT INTO part(a, b, c, "e ""f") VALUES (\(part), 'b1', 'c', \(hidden)), (\(part + 1), 'b2', 'c', \(hidden));
      INSERT INTO doc VALUES ('first', \(hidden)), ('second one', \(hidden));
      INSERT INTO page VALUES ('alpha beta'), ('beta gamma');
      """
    // Rows that it may not, more of them in one world.
    for row in 0...2 * world {
      sql += "INSERT INTO log VALUES (\(number + row), \(hidden)), (NULL, \(hidden));"
      if role == 0 {
        sql += """
          INSERT INTO account VALUES (\(100 + row), 'bob\(row)' || \(hidden), \(hidden), \(extreme), \(hidden));
          INSERT INTO entry VALUES (\(100 + row), \(number), \(hidden), \(hidden));
          INSERT INTO doc VALUES (\(hidden), \(hidden));
          INSERT INTO page VALUES ('beta ' || \(hidden));
          """
      } else {
        sql += "INSERT INTO part(a, b, c) VALUES (\(-number - row), \(hidden), 'c'), (\(number + row), \(hidden), 'd');"
      }
    }
    try! DatabaseQueue(path: path).writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL;" + schema + sql)
    }
  }
}
