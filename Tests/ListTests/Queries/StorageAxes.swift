import ServerSupport
import TestSupport

/// One file, its writers and its lists, chosen along axes that no other random test has: storage classes, collations
/// and texts that compare as equal but differ, changes of the journal mode, files that writers attach.
///
/// Everything follows from the case's number: neighbouring numbers differ in several axes at once, and every pair of
/// two axes' values occurs within 143 numbers.
struct StorageCase: CustomStringConvertible, Sendable {
  enum Journal: String { case wal, delete, persist, truncate, changing }

  let number: UInt64
  let schema: StorageSchema
  let journal: Journal
  let encoding: String
  let pageSize: Int
  /// Memory for what is remembered of all tables, in bytes.
  let captureBytes: Int
  /// Whether transactions also write to an attached file.
  let attaches: Bool

  /// A case over a schema of its own, in WAL mode.
  init(_ schema: StorageSchema, encoding: String) {
    (number, journal, pageSize, captureBytes, attaches) = (0, .wal, 4096, 256 << 20, false)
    (self.schema, self.encoding) = (schema, encoding)
  }

  /// The lengths of the lists below are pairwise coprime, so each pair of their values occurs at some number.
  init(number: UInt64) {
    self.number = number
    func pick<Value>(_ values: [Value]) -> Value { values[Int(number % UInt64(values.count))] }
    schema = pick(StorageSchema.all)
    journal = pick([.wal, .persist, .delete, .changing, .truncate, .wal, .persist])
    encoding = pick(["UTF-8", "UTF-8", "UTF-16le", "UTF-8", "UTF-16be"])
    pageSize = pick([4096, 512, 1024])
    captureBytes = pick([256 << 20, 20 << 10, 256 << 20, 0])
    attaches = number % 13 % 3 == 2
  }

  var description: String {
    "\(schema.name), \(journal.rawValue), \(encoding), pages of \(pageSize), captureMemory \(captureBytes)"
      + (attaches ? ", attached" : "")
  }
}

/// Tables, the statements that write to them, and the parts of queries over them.
struct StorageSchema: Sendable {
  let name: String
  let sql: String
  /// Tables with their columns; the first is the key's.
  let tables: [(name: String, columns: [String])]
  /// FROM clauses with the key's columns and columns to select.
  let sources: [(from: String, keys: [String], columns: [String])]
  /// Whether values are whole numbers alone.
  var isOfNumbers = false
  /// Whether queries filter by MATCH.
  var search: String?

  static let all = [
    StorageSchema(
      name: "untyped key without rowid", sql: "CREATE TABLE t(x PRIMARY KEY, z) WITHOUT ROWID;",
      tables: [("t", ["x", "z"])], sources: [("t", ["x"], ["x", "z"])]),
    StorageSchema(
      name: "untyped key with rowid", sql: "CREATE TABLE t(x NOT NULL PRIMARY KEY, z);",
      tables: [("t", ["x", "z"])], sources: [("t", ["x"], ["x", "z"])]),
    StorageSchema(
      name: "strict ANY", sql: "CREATE TABLE t(x ANY NOT NULL PRIMARY KEY, z ANY) STRICT;",
      tables: [("t", ["x", "z"])], sources: [("t", ["x"], ["x", "z"])]),
    StorageSchema(
      name: "strict ANY without rowid", sql: "CREATE TABLE t(x ANY PRIMARY KEY, z ANY) STRICT, WITHOUT ROWID;",
      tables: [("t", ["x", "z"])], sources: [("t", ["x"], ["x", "z"])]),
    StorageSchema(
      name: "collated compound key",
      sql: "CREATE TABLE t(x COLLATE RTRIM, y TEXT COLLATE NOCASE, z, PRIMARY KEY (x, y)) WITHOUT ROWID;",
      tables: [("t", ["x", "y", "z"])], sources: [("t", ["x", "y"], ["x", "y", "z"])]),
    StorageSchema(
      name: "numeric keys", sql: "CREATE TABLE t(x REAL, y NUMERIC, z BLOB, PRIMARY KEY (x, y)) WITHOUT ROWID;",
      tables: [("t", ["x", "y", "z"])], sources: [("t", ["x", "y"], ["x", "y", "z"])]),
    StorageSchema(
      name: "joined by storage class",
      sql: """
        CREATE TABLE t(x PRIMARY KEY, z) WITHOUT ROWID; CREATE TABLE u(k PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO u VALUES ('real', 1), ('integer', 2), ('text', 3), ('blob', NULL), (3.0, 4), ('a', 5);
        """,
      tables: [("t", ["x", "z"]), ("t", ["x", "z"]), ("u", ["k", "v"])],
      sources: [
        ("t JOIN u ON u.k = typeof(t.x)", ["t.x"], ["z", "v", "hex(t.x) AS x1"]),
        ("u LEFT JOIN t ON typeof(t.x) = u.k", ["u.k", "t.x AS tx"], ["v", "t.z AS z1"]),
        ("u JOIN t ON t.x || '' = u.k", ["u.k", "t.x AS tx"], ["v", "t.z AS z1"]),
        ("t LEFT JOIN u ON u.k = t.z", ["t.x"], ["k", "v"]),
      ]),
    StorageSchema(
      name: "views on views",
      sql: """
        CREATE TABLE t(x PRIMARY KEY, z) WITHOUT ROWID; CREATE TABLE u(k COLLATE NOCASE PRIMARY KEY, v);
        CREATE VIEW first AS SELECT x, z, typeof(x) AS c FROM t WHERE z IS NOT NULL;
        CREATE VIEW second AS SELECT x, z || '' AS s, c FROM first;
        CREATE VIEW third AS SELECT t.x AS x, u.v AS s, u.k AS c FROM t JOIN u ON u.k = typeof(t.x);
        INSERT INTO u VALUES ('REAL', 1), ('Integer', 2), ('text', 3);
        """,
      tables: [("t", ["x", "z"]), ("u", ["k", "v"])],
      sources: [
        ("second", ["x"], ["s", "c", "x"]), ("third", ["x"], ["s", "c", "x"]), ("first", ["x"], ["z", "c", "x"]),
      ]),
    StorageSchema(
      name: "R*Tree", sql: "CREATE VIRTUAL TABLE t USING rtree(x, low, high);",
      tables: [("t", ["x", "low", "high"])],
      sources: [("t", ["x"], ["low", "high"]), ("t_rowid", ["rowid"], ["nodeno"])], isOfNumbers: true),
    StorageSchema(
      name: "external full-text search",
      sql: """
        CREATE TABLE t(x INTEGER PRIMARY KEY, z TEXT);
        CREATE VIRTUAL TABLE found USING fts5(z, content='t', content_rowid='x');
        CREATE TRIGGER a AFTER INSERT ON t BEGIN INSERT INTO found(rowid, z) VALUES (NEW.x, NEW.z); END;
        CREATE TRIGGER b AFTER DELETE ON t BEGIN INSERT INTO found(found, rowid, z) VALUES ('delete', OLD.x, OLD.z); END;
        CREATE TRIGGER c AFTER UPDATE ON t BEGIN INSERT INTO found(found, rowid, z) VALUES ('delete', OLD.x, OLD.z);
          INSERT INTO found(rowid, z) VALUES (NEW.x, NEW.z); END;
        """.replacingNewlines, tables: [("t", ["x", "z"])],
      sources: [("found", ["rowid"], ["z"]), ("t", ["x"], ["z"])], isOfNumbers: true, search: "found MATCH '1*'"),
    StorageSchema(
      name: "contentless full-text search",
      sql: """
        CREATE TABLE t(x INTEGER PRIMARY KEY, z TEXT); CREATE VIRTUAL TABLE found USING fts5(z, content='');
        CREATE TRIGGER a AFTER INSERT ON t BEGIN INSERT INTO found(rowid, z) VALUES (NEW.x, NEW.z); END;
        CREATE TRIGGER b AFTER DELETE ON t BEGIN INSERT INTO found(found, rowid, z) VALUES ('delete', OLD.x, OLD.z); END;
        """.replacingNewlines, tables: [("t", ["x", "z"])],
      sources: [("found", ["rowid"], ["rowid + 0 AS r"]), ("t", ["x"], ["z"])], isOfNumbers: true,
      search: "found MATCH '1*'"),
  ]
}

extension String {
  /// The statement on one line: when a statement fails, the shell skips the rest of its line.
  fileprivate var replacingNewlines: String { split(separator: "\n").joined(separator: " ") }
}

/// Makes a case's transactions and queries.
struct StorageGenerator {
  private let test: StorageCase
  private var random: SeededGenerator

  init(_ test: StorageCase, seed: UInt64) {
    self.test = test
    random = SeededGenerator(seed: seed)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }
  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private static let values = [
    "3", "3.0", "4", "4.0", "5", "0", "-0.0", "0.0", "2.5", "-3.0", "1e300", "9e999", "-9e999", "9e999 - 9e999", "NULL",
    "9007199254740993", "9007199254740992.0", "9223372036854775807", "9223372036854775808.0", "'3'", "'3.0'", "'real'",
    "'text'", "'integer'", "''", "x''", "x'33'", "x'61'", "'a'", "'A'", "'a '", "'a  '", "'B'", "'b '",
    "CAST(x'610062' AS TEXT)", "CAST(x'410042' AS TEXT)", "CAST(x'6100' AS TEXT)", "CAST(x'ff61' AS TEXT)",
  ]

  private mutating func value() -> String {
    test.schema.isOfNumbers ? "\(Int.random(in: 1...30, using: &random))" : pick(Self.values)
  }

  // MARK: - Transactions

  /// The statements of a transaction: one line for each.
  mutating func transaction() -> String {
    if chance(4) { return "VACUUM;" }
    if test.journal == .changing, chance(12) {
      return "PRAGMA journal_mode = \(pick(["wal", "wal", "delete", "persist", "truncate", "memory"]));"
    }
    if test.journal == .wal || test.journal == .changing, chance(5) {
      return "PRAGMA wal_checkpoint(\(pick(["PASSIVE", "FULL", "RESTART", "TRUNCATE"])));"
    }
    var lines = (0..<Int.random(in: 1...4, using: &random)).map { _ in statement() }
    if chance(20) {
      lines.insert("SAVEPOINT s;", at: 0)
      lines.append(pick(["ROLLBACK TO s;", "RELEASE s;"]))
      lines.append(statement())
    }
    if test.attaches { lines.append("INSERT INTO other.p VALUES (\(value()));") }
    return (["BEGIN;"] + lines + [pick(["COMMIT;", "COMMIT;", "COMMIT;", "COMMIT;", "ROLLBACK;"])])
      .joined(separator: "\n")
  }

  private mutating func statement() -> String {
    let (table, columns) = pick(test.schema.tables)
    let key = columns[0]
    if test.schema.isOfNumbers, columns.count == 3 { return box(table) }
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<4:
      let rows = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        "(\(columns.map { _ in value() }.joined(separator: ", ")))"
      }
      return
        "INSERT \(pick(["OR REPLACE", "OR IGNORE", "OR REPLACE"])) INTO \(table) VALUES \(rows.joined(separator: ", "));"
    case 4:
      let same = pick(["CAST(\(key) AS REAL)", "CAST(\(key) AS INTEGER)", "-\(key)", "\(key) || ' '", "upper(\(key))"])
      let changed = test.schema.isOfNumbers ? "\(key) + 1" : same
      return "UPDATE OR \(pick(["REPLACE", "IGNORE"])) \(table) SET \(key) = \(changed)\(condition(key));"
    case 5..<8:
      let column = pick(Array(columns))
      let policy = column == key ? "OR REPLACE " : "OR IGNORE "
      return "UPDATE \(policy)\(table) SET \(column) = \(value())\(condition(pick(columns)));"
    default: return "DELETE FROM \(table)\(condition(pick(columns)));"
    }
  }

  private mutating func box(_ table: String) -> String {
    let low = Int.random(in: 0...9, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0, 1: return "INSERT OR REPLACE INTO \(table) VALUES (\(value()), \(low), \(low + 2));"
    case 2: return "UPDATE \(table) SET low = \(low), high = \(low + 3) WHERE x > \(value());"
    default: return "DELETE FROM \(table) WHERE x = \(value());"
    }
  }

  private mutating func condition(_ column: String) -> String {
    pick([
      " WHERE \(column) = \(value())", " WHERE \(column) IS \(value())", " WHERE \(column) > \(value())",
      " WHERE typeof(\(column)) = \(pick(["'real'", "'integer'", "'text'"]))",
    ])
  }

  // MARK: - Queries

  /// An expression that differs between equal values.
  private mutating func expression(_ column: String) -> String {
    let bare = column.firstRange(of: " AS ").map { String(column[..<$0.lowerBound]) } ?? column
    return pick([
      "typeof(\(bare))", "quote(\(bare))", "\(bare) || ''", "hex(\(bare))", "length(\(bare))", "CAST(\(bare) AS TEXT)",
      "typeof(\(bare)) = 'real'", "\(bare) IS 3", "lower(\(bare))", "\(bare) IS NULL", "instr(\(bare), 'a')",
    ])
  }

  mutating func query() -> OracleQuery {
    let (from, keys, columns) = pick(test.schema.sources)
    var query = OracleQuery(
      table: from, keys: keys, select: columns.filter { !keys.contains($0) }, filter: nil, section: nil, orderBy: [],
      limit: pick([nil, nil, nil, 3]), window: pick([nil, nil, (0, 2), (1, 3)]))
    query.tellsKey = true
    if let search = test.schema.search, from == "found" { query.filter = search }
    if chance(35), query.filter == nil {
      query.filter = pick(
        [
          expression(pick(columns)) + " IS NOT NULL", "typeof(\(plain(columns))) <> 'text'",
          "\(plain(columns)) > 1", "EXISTS (SELECT 1 FROM \(test.schema.tables[0].name) WHERE z IS \(plain(columns)))",
        ].filter { test.schema.tables[0].columns.contains("z") || !$0.contains("EXISTS") })
    }
    if chance(45), from != "found" { return grouped(query, columns) }
    if chance(50) { query.select.append(expression(pick(columns)) + " AS e") }
    for _ in 0..<pick([0, 1, 1, 2]) where from != "found" {
      query.orderBy.append(pick([plain(columns), expression(pick(columns))]) + pick(["", " DESC", " NULLS LAST"]))
    }
    if chance(40), from != "found" { query.section = (expression(pick(columns)), chance(50)) }
    return query
  }

  private mutating func plain(_ columns: [String]) -> String {
    let column = pick(columns)
    return column.firstRange(of: " AS ").map { String(column[..<$0.lowerBound]) } ?? column
  }

  private mutating func grouped(_ query: OracleQuery, _ columns: [String]) -> OracleQuery {
    var query = query
    let groups = (0..<pick([1, 1, 2])).map { _ in expression(pick(columns)) }
    query.groupBy = groups
    query.keys = groups.enumerated().map { "\($1) AS k\($0)" }
    query.select = ["count(*) AS n", "count(DISTINCT quote(\(plain(columns)))) AS d"]
    if chance(50) { query.orderBy = ["n" + pick(["", " DESC"])] }
    if chance(30) { query.having = pick(["count(*) > 1", "max(length(\(plain(columns)))) > 1"]) }
    if chance(30) { query.section = ("count(*) > 1", chance(50)) }
    return query
  }
}
