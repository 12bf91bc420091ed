import Foundation
import GRDB
import Testing

@testable import Store

/// Random commits of another process; a comparison of the whole tables before and after is the oracle.
///
/// `FRESHET_SEED=n swift test --filter ChangeLogPropertyTests` repeats a failure.
@Suite struct ChangeLogPropertyTests {
  private static let commits = 150
  private static let seed =
    ProcessInfo.processInfo.environment["FRESHET_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)

  @Test(arguments: RandomSchema.all)
  func everyDifferenceIsInTheLog(_ schema: RandomSchema) throws {
    let fixture = try ChangeLogFixture(schema.sql)
    let session = try SQLiteSession(path: fixture.path)
    var generator = StatementGenerator(schema: schema, seed: Self.seed)
    try session.run(generator.pragmas())
    var before = try contents(fixture)
    for _ in 0..<Self.commits {
      let commit = generator.commit()
      try session.run(commit)
      let after = try contents(fixture)
      let missed = missing(from: try fixture.changes(), between: before, and: after, fixture.tables)
      #expect(missed == [], "FRESHET_SEED=\(Self.seed), \(schema), after:\n\(commit)")
      if !missed.isEmpty { return }
      before = after
    }
    #expect(try fixture.isCurrent())
  }

  /// Rows as SQL literals by `table:key`; keys with NULLs can have several.
  private typealias Contents = [String: [[String]]]

  private func contents(_ fixture: ChangeLogFixture) throws -> Contents {
    try fixture.queue.read { db in
      var contents: Contents = [:]
      for table in fixture.tables {
        let literals = (table.key.names + table.columns).map { "quote(\(quotedIdentifier($0)))" }
        let sql = "SELECT \(literals.joined(separator: ", ")) FROM \(quotedIdentifier(table.name))"
        for row in try Row.fetchAll(db, sql: sql) {
          let values = row.databaseValues.compactMap(String.fromDatabaseValue)
          let count = table.key.names.count
          contents["\(table.name):\(values.prefix(count).joined(separator: ","))", default: []]
            .append(Array(values.dropFirst(count)))
        }
      }
      return contents.mapValues { $0.sorted { $0.lexicographicallyPrecedes($1) } }
    }
  }

  /// Keys whose row differs and that the log does not have, or not with every column that differs.
  private func missing(
    from changes: [LoggedChange], between before: Contents, and after: Contents, _ tables: [TrackedTable]
  ) -> [String] {
    var masks: [String: Int64] = [:]
    for change in changes {
      masks["\(change.table):\(change.key.joined(separator: ","))", default: 0] |= change.mask.rawValue
    }
    var missing: [String] = []
    for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
      guard let mask = masks[key].map(ColumnMask.init(rawValue:)) else {
        missing.append("\(key): \(before[key] ?? []) became \(after[key] ?? [])")
        continue
      }
      guard let old = before[key], let new = after[key], old.count == 1, new.count == 1 else {
        continue
      }
      for index in old[0].indices where old[0][index] != new[0][index] && !mask.contains(index) {
        missing.append("\(key): column \(index), \(old[0][index]) became \(new[0][index])")
      }
    }
    return missing.sorted()
  }
}

/// A schema and what can be written into it.
struct RandomSchema: Sendable, CustomStringConvertible {
  let description: String
  let sql: String
  /// Tables with the columns that statements set.
  let tables: [(name: String, columns: [String])]

  static let all = [
    RandomSchema(
      description: "integer key, NOCASE unique",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE COLLATE NOCASE, b, c REAL);",
      tables: [("t", ["id", "a", "b", "c"]), ("t", ["rowid", "a"])]),
    RandomSchema(
      description: "text key on a rowid table", sql: "CREATE TABLE t(k TEXT PRIMARY KEY, a INT, b UNIQUE);",
      tables: [("t", ["k", "a", "b"]), ("t", ["rowid", "k", "b"])]),
    RandomSchema(
      description: "compound key without rowid",
      sql: "CREATE TABLE t(a, b TEXT COLLATE NOCASE, c UNIQUE, d, PRIMARY KEY (b, a)) WITHOUT ROWID;",
      tables: [("t", ["a", "b", "c", "d"])]),
    RandomSchema(
      description: "no key, partial indexes",
      sql: "CREATE TABLE t(a, b INT, c); CREATE UNIQUE INDEX i ON t(a) WHERE b > 1;"
        + "CREATE UNIQUE INDEX j ON t(c COLLATE NOCASE) WHERE b = '1';",
      tables: [("t", ["a", "b", "c"]), ("t", ["rowid", "a", "b"])]),
    RandomSchema(
      description: "expressions and generated columns",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b, g AS (b || 'x') UNIQUE, h INT AS (length(a)) STORED);"
        + "CREATE UNIQUE INDEX i ON t(lower(a), b > 1);",
      tables: [("t", ["id", "a", "b"])]),
    RandomSchema(
      description: "untyped NOCASE key, defaults",
      sql:
        "CREATE TABLE t(k COLLATE NOCASE PRIMARY KEY, a TEXT NOT NULL DEFAULT a,"
        + "b NOT NULL DEFAULT 2 UNIQUE, g AS (b) UNIQUE);",
      tables: [("t", ["k", "a", "b"])]),
    RandomSchema(
      description: "foreign keys",
      sql: """
        CREATE TABLE p(id INTEGER PRIMARY KEY, a TEXT UNIQUE);
        CREATE TABLE t(id INTEGER PRIMARY KEY, x REFERENCES p(id) ON DELETE CASCADE ON UPDATE CASCADE,
          y TEXT UNIQUE REFERENCES p(a) ON DELETE SET NULL ON UPDATE CASCADE, up REFERENCES t(id) ON DELETE CASCADE);
        """,
      tables: [("p", ["id", "a"]), ("t", ["id", "x", "y", "up"])]),
    RandomSchema(
      description: "a user's triggers",
      sql: """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b); CREATE TABLE u(k PRIMARY KEY, n UNIQUE) WITHOUT ROWID;
        CREATE TRIGGER x AFTER UPDATE OF a ON t BEGIN UPDATE t SET b = OLD.a WHERE id <> NEW.id; END;
        CREATE TRIGGER y BEFORE INSERT ON t BEGIN REPLACE INTO u VALUES (ifnull(NEW.a, 0), NEW.b); END;
        CREATE TRIGGER z AFTER DELETE ON t BEGIN UPDATE OR REPLACE u SET n = OLD.b WHERE k > 1; END;
        """,
      tables: [("t", ["id", "a", "b"]), ("u", ["k", "n"])]),
    RandomSchema(
      description: "strict", sql: "CREATE TABLE t(id ANY PRIMARY KEY, a ANY UNIQUE, b TEXT) STRICT;",
      tables: [("t", ["id", "a", "b"])]),
  ]
}

/// Statements of every kind over few values, so that they meet.
struct StatementGenerator {
  let schema: RandomSchema
  private var generator: SplitMix64

  init(schema: RandomSchema, seed: UInt64) {
    self.schema = schema
    generator = SplitMix64(state: seed)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements.randomElement(using: &generator)!
  }

  /// No -1: as an explicit rowid it is the one value that the log cannot tell from none (see `DisplaceTriggers`).
  private mutating func value() -> String {
    pick(["0", "1", "2", "3", "4", "1.0", "2.5", "'a'", "'A'", "'b'", "'B '", "'1'", "NULL", "x'61'", "-2"])
  }

  mutating func pragmas() -> String {
    "PRAGMA foreign_keys = \(pick(["ON", "OFF"])); PRAGMA recursive_triggers = \(pick(["ON", "OFF", "OFF"]));"
  }

  /// One transaction, each statement on a line of its own: the shell gives up a line when a statement in it fails.
  mutating func commit() -> String {
    let count = Int.random(in: 1...5, using: &generator)
    var lines = (0..<count).map { _ in statement() }
    if pick([true, false, false]) {
      lines.insert("SAVEPOINT s;", at: 0)
      lines.append(pick(["ROLLBACK TO s;", "RELEASE s;"]))
      lines.append(statement())
    }
    return (["BEGIN;"] + lines + [pick(["COMMIT;", "COMMIT;", "COMMIT;", "ROLLBACK;"])]).joined(separator: "\n")
  }

  private mutating func statement() -> String {
    let table = pick(schema.tables)
    let columns = table.columns.filter { _ in pick([true, true, true, false]) }
    let set = columns.isEmpty ? table.columns : columns
    let policy = pick(["", "", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL"])
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4: return "\(insert(policy, table.name, set));"
    case 4: return "\(insert("", table.name, set)) ON CONFLICT DO UPDATE SET \(assignments(set));"
    case 5: return "\(insert("", table.name, set)) ON CONFLICT DO NOTHING;"
    case 6..<9: return "UPDATE \(policy) \(table.name) SET \(assignments(set))\(filter(table.columns));"
    default: return "DELETE FROM \(table.name)\(filter(table.columns));"
    }
  }

  private mutating func insert(_ policy: String, _ table: String, _ columns: [String]) -> String {
    let rows = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
      "(\(columns.map { _ in value() }.joined(separator: ", ")))"
    }
    return "INSERT \(policy) INTO \(table)(\(columns.joined(separator: ", "))) VALUES \(rows.joined(separator: ", "))"
  }

  private mutating func assignments(_ columns: [String]) -> String {
    columns.map { column in
      "\(column) = \(pick([value(), value(), value(), column, "\(column) + 1", "upper(\(column))"]))"
    }.joined(separator: ", ")
  }

  private mutating func filter(_ columns: [String]) -> String {
    pick(["", " WHERE \(pick(columns)) = \(value())", " WHERE \(pick(columns)) > \(value())"])
  }
}
