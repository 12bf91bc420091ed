/// A schema, and the columns that statements can write.
package struct RandomSchema: Sendable, CustomStringConvertible {
  package let description: String
  package let sql: String
  /// Tables with the columns that statements set.
  package let tables: [(name: String, columns: [String])]

  package init(description: String, sql: String, tables: [(name: String, columns: [String])]) {
    self.description = description
    self.sql = sql
    self.tables = tables
  }

  package static let all = [
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
    RandomSchema(
      description: "UTF-16",
      sql:
        "PRAGMA encoding = 'UTF-16'; CREATE TABLE t(k TEXT PRIMARY KEY, a TEXT COLLATE NOCASE, b UNIQUE) WITHOUT ROWID;",
      tables: [("t", ["k", "a", "b"])]),
    RandomSchema(
      description: "indexes that are not unique",
      sql: """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b, c, g AS (b || 'x'), h INT AS (length(a)) STORED);
        CREATE INDEX i ON t(b, a COLLATE RTRIM); CREATE INDEX j ON t(g); CREATE INDEX k ON t(h DESC) WHERE b > 1;
        CREATE INDEX l ON t(lower(c));
        """,
      tables: [("t", ["id", "a", "b", "c"]), ("t", ["rowid", "b", "c"])]),
    RandomSchema(
      description: "indexes beside text keys",
      sql: """
        CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, a, b UNIQUE, c); CREATE INDEX i ON t(a);
        CREATE TABLE u(a TEXT, b INT, c, d NOT NULL DEFAULT 1, PRIMARY KEY (b, a)) WITHOUT ROWID; CREATE INDEX j ON u(c, b);
        CREATE TABLE v(a, b); CREATE INDEX k ON v(b);
        """,
      tables: [
        ("t", ["k", "a", "b", "c"]), ("t", ["rowid", "a"]), ("u", ["a", "b", "c", "d"]), ("v", ["rowid", "a", "b"]),
      ]),
    RandomSchema(
      description: "compound foreign keys",
      sql: """
        CREATE TABLE p(x INT, y TEXT, z, PRIMARY KEY (x, y)) WITHOUT ROWID; CREATE INDEX i ON p(z);
        CREATE TABLE t(id INTEGER PRIMARY KEY, px INT DEFAULT 1, py TEXT, v,
          FOREIGN KEY (px, py) REFERENCES p(x, y) ON DELETE SET DEFAULT ON UPDATE CASCADE);
        """,
      tables: [("p", ["x", "y", "z"]), ("t", ["id", "px", "py", "v"])]),
    RandomSchema(
      description: "a user's triggers on indexed columns",
      sql: """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c UNIQUE); CREATE INDEX i ON t(a);
        CREATE TRIGGER x BEFORE UPDATE OF b ON t BEGIN UPDATE t SET a = NEW.b WHERE id = OLD.id; END;
        CREATE TRIGGER y AFTER INSERT ON t BEGIN UPDATE t SET a = NEW.c WHERE id < NEW.id; END;
        CREATE TRIGGER z BEFORE INSERT ON t BEGIN DELETE FROM t WHERE a = NEW.b AND id > 2; END;
        """,
      tables: [("t", ["id", "a", "b", "c"]), ("t", ["id", "b"])]),
  ]
}

/// Statements of every kind over few values, so that they hit the same rows.
package struct StatementGenerator {
  package let schema: RandomSchema
  private var generator: SeededGenerator

  package init(schema: RandomSchema, seed: UInt64) {
    self.schema = schema
    generator = SeededGenerator(seed: seed)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements.randomElement(using: &generator)!
  }

  private mutating func value() -> String {
    // These texts sort differently in UTF-16 and by code point.
    if schema.description == "UTF-16", pick([true, false, false]) { return pick(["'é'", "'\u{FF01}'", "'😀'", "'Ā'"]) }
    return pick(["0", "1", "2", "3", "4", "1.0", "2.5", "'a'", "'A'", "'b'", "'B '", "'1'", "NULL", "x'61'", "-2"])
  }

  package mutating func pragmas() -> String {
    "PRAGMA foreign_keys = \(pick(["ON", "OFF"])); PRAGMA recursive_triggers = \(pick(["ON", "OFF", "OFF"]));"
  }

  /// One transaction, each statement on a line of its own: when a statement fails, the shell skips the rest of its
  /// line.
  package mutating func commit() -> String {
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
