import CSQLite
import Ground
import LiveQuery
import TestSupport
import Testing

@testable import Controllers
@testable import Replication
@testable import Store

@Suite("What the log says of tables' rows")
struct TableDigestTests {
  /// A database in memory, with one table `t`.
  private final class Table {
    let connection: OpaquePointer
    let encoding: TextEncoding

    init(_ definition: String, _ values: [String], encoding: TextEncoding = .utf8) throws {
      var opened: OpaquePointer?
      _ = sqlite3_open(":memory:", &opened)
      connection = try #require(opened)
      self.encoding = encoding
      try run("PRAGMA encoding = '\(encoding.rawValue)'; CREATE TABLE t\(definition)")
      for value in values { try run("INSERT INTO t VALUES (\(value))") }
    }

    deinit { sqlite3_close_v2(connection) }

    func run(_ sql: String) throws { try PreparedStatement.run(connection, sql) }

    private func logged() throws -> LogTable {
      try #require(try PublishedSchema(connection).tables.first { $0.name == "t" }).logged
    }

    /// The columns of its key.
    func key() throws -> String {
      let table = try logged()
      return table.columns.prefix(table.keyCount).joined(separator: ", ")
    }

    func digester() throws -> TableDigester { try TableDigester(logged(), connection, encoding) }

    /// The digests of the table in parts of `count` rows.
    func parts(of count: Int) throws -> [TableDigest] {
      var parts: [TableDigest] = []
      var key: [UInt8] = []
      repeat {
        var rows = 0
        let part = try digester().digest(after: key) {
          rows += 1
          return rows == count
        }
        parts.append(part)
        key = part.through
      } while !key.isEmpty
      return parts
    }
  }

  private static let kinds: [(definition: String, values: [String])] = [
    ("(x, y)", ["1, 2", "NULL, 3.5", "'a', x'00ff'", "'', NULL", "-0.0, 9223372036854775807"]),
    ("(id INTEGER PRIMARY KEY, y)", ["-5, 1", "0, 'ä𝄞'", "7, ''", "9223372036854775807, 2"]),
    ("(k PRIMARY KEY, y) WITHOUT ROWID", ["3.0, 1", "4, 1", "'4', 1", "x'34', 1", "'a', 1", "'ä', 1"]),
    ("(k TEXT COLLATE NOCASE PRIMARY KEY, y) WITHOUT ROWID", ["'B', 1", "'a', 1", "'c', 1", "'', 1"]),
    ("(y, a, b, PRIMARY KEY(b, a)) WITHOUT ROWID", ["1, 1, 1", "1, 2, 1", "1, 1, 2", "1, 2, 2", "1, 0, 2"]),
    ("(a, b, y, PRIMARY KEY(a DESC, b DESC)) WITHOUT ROWID", ["1, 1, 1", "1, 2, 1", "2, 1, 1", "2, 2, 1"]),
    (
      "(a, b, y, PRIMARY KEY(a COLLATE NOCASE, b)) WITHOUT ROWID", ["'a', 1, 1", "'B', 1, 1", "'A', 2, 1", "'c', 0, 1"]
    ),
    (
      "(a, b COLLATE RTRIM, y, PRIMARY KEY(a, b DESC)) WITHOUT ROWID",
      ["1, 'x', 1", "1, 'y  ', 1", "2, 'x', 1", "2, 'z', 1", "0, '', 1"]
    ),
  ]

  @Test("Rows in parts of any size are told, and found equal", arguments: kinds.indices, [TextEncoding.utf8, .utf16le])
  func parts(_ kind: Int, _ encoding: TextEncoding) throws {
    let (definition, values) = Self.kinds[kind]
    let table = try Table(definition, values, encoding: encoding)
    let copy = try Table(definition, values.reversed(), encoding: encoding)
    if definition == "(x, y)" {
      // Rows of the copy have the same rowids.
      try copy.run("DELETE FROM t")
      for value in values { try copy.run("INSERT INTO t VALUES (\(value))") }
    }
    for size in 1...values.count + 1 {
      let parts = try table.parts(of: size)
      #expect(parts.reduce(0) { $0 + $1.count } == values.count)
      for part in parts {
        var writer = ByteWriter()
        writer.add(part)
        let sent = try writer.bytes.withUnsafeBytes { bytes in
          var reader = ByteReader(bytes)
          _ = try reader.item()
          return try reader.digest()
        }
        #expect(sent == part)
        let isEqual = try copy.digester().matches(sent)
        #expect(isEqual, "\(definition), parts of \(size)")
      }
    }
  }

  @Test(
    "A change in any row is found in one part, and only there", arguments: kinds.indices,
    ["UPDATE t SET y = 'other' WHERE", "DELETE FROM t WHERE"])
  func changed(_ kind: Int, _ statement: String) throws {
    let (definition, values) = Self.kinds[kind]
    for size in 1...values.count {
      let table = try Table(definition, values)
      let parts = try table.parts(of: size)
      for number in values.indices {
        let copy = try Table(definition, values)
        let key = try copy.key()
        try copy.run("\(statement) (\(key)) IN (SELECT \(key) FROM t ORDER BY \(key) LIMIT 1 OFFSET \(number))")
        let different = try parts.filter { try !copy.digester().matches($0) }
        #expect(different.count == 1, "\(definition), parts of \(size), row \(number)")
      }
    }
  }

  @Test(
    "Equal values of two storage classes are not the same", arguments: [("3", "3.0"), ("'a'", "x'61'"), ("0.0", "0")])
  func storageClasses(_ values: (String, String)) throws {
    let (table, other) = (try Table("(x, y)", ["1, \(values.0)"]), try Table("(x, y)", ["1, \(values.1)"]))
    let isEqual = try other.digester().matches(try table.parts(of: 10)[0])
    #expect(!isEqual)
  }

  @Test("A row that was never told is found", arguments: ["-1", "5", "100"])
  func added(_ key: String) throws {
    let definition = "(id INTEGER PRIMARY KEY, y)"
    let values = (0..<10).map { "\($0 * 2), 1" }
    let (table, copy) = (try Table(definition, values), try Table(definition, values + ["\(key), 1"]))
    for size in [1, 3, 10, 20] {
      let isEqual = try table.parts(of: size).allSatisfy { try copy.digester().matches($0) }
      #expect(!isEqual)
    }
  }

  @Test("No part of a table has it sorted, and a later one does not begin at the front", arguments: kinds.indices)
  func cost(_ kind: Int) throws {
    let (definition, values) = Self.kinds[kind]
    let table = try Table(definition, values)
    let parts = try table.parts(of: values.count - 1)
    let statement = try table.digester().select(parts[1])
    while try statement.step() {}
    #expect(sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_SORT, 0) == 0)
    #expect(sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0) == 0)
  }
}
