import CSQLite
import LiveQuery
import TestSupport
import Testing

@testable import Replication
@testable import Store

@Suite("What batches are made of")
struct BatchContentsTests {
  @Test("Numbers of every size come back")
  func numbers() throws {
    let numbers: [Int64] = [0, 1, -1, 63, 64, -64, -65, 1 << 31, .max, .min, .min + 1]
    var writer = ByteWriter()
    for number in numbers { writer.add(number) }
    try writer.bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      for number in numbers {
        let read = try reader.signed()
        #expect(read == number)
      }
      #expect(reader.isAtEnd)
    }
    // Longer than 64 bits.
    #expect(throws: MalformedBytes.self) {
      try [UInt8](repeating: 0xFF, count: 11).withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        _ = try reader.number()
      }
    }
  }

  @Test("Garbage is refused, and nothing is read beyond its end", arguments: 0..<200)
  func garbage(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...9, using: &generator) }
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      do throws(MalformedBytes) {
        while !reader.isAtEnd {
          switch try reader.item() {
          case .schema: _ = try reader.objects()
          case .table: _ = try reader.table()
          case .digest: _ = try reader.digest()
          default: _ = try reader.value()
          }
        }
      } catch {}
      #expect(reader.position <= bytes.count)
    }
  }

  @Test(
    "A schema leads to any other: tables, indexes, views, triggers, virtual tables, sequences",
    arguments: [
      ["CREATE TABLE a(x)", "CREATE INDEX i ON a(x)"],
      ["CREATE TABLE a(x, y)", "CREATE VIEW v AS SELECT * FROM a"],
      [
        "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END",
      ],
      ["CREATE VIRTUAL TABLE a USING fts5(x)"],
      ["CREATE TABLE \"odd \"\" name\"(x PRIMARY KEY) WITHOUT ROWID", "CREATE TABLE a(x)", "ANALYZE"],
      [],
    ])
  func schemas(_ statements: [String]) throws {
    let folder = try TemporaryFolder()
    let others = [
      ["CREATE TABLE a(x)", "CREATE TABLE b(id INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO b VALUES (1)"],
      ["CREATE VIRTUAL TABLE a USING fts5(z)", "CREATE VIEW v AS SELECT 1"], [],
    ]
    for (number, before) in others.enumerated() {
      let target = try Connection(folder.path("target\(number)"), .making)
      let replica = try Connection(folder.path("replica\(number)"), .making)
      defer { withExtendedLifetime((target, replica)) {} }
      for statement in statements { try target.run(statement) }
      for statement in before { try replica.run(statement) }
      let wanted = try PublishedSchema(target.raw).objects
      try replica.run("BEGIN")
      try SchemaChange(replica.raw).lead(to: wanted)
      try replica.run("COMMIT")
      let found = try PublishedSchema(replica.raw).objects
      // Tables that SQLite makes for itself stay, empty.
      let own = found.filter { $0.name.hasPrefix("sqlite_s") && !wanted.contains($0) }
      #expect(Set(found).subtracting(own) == Set(wanted), "from \(before)")
      #expect(try PreparedStatement(replica.raw, "PRAGMA integrity_check").value == "ok")
    }
  }

  @Test("What the log cannot carry is refused with a sentence")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let file = try Connection(folder.path("a"), .making)
    defer { withExtendedLifetime(file) {} }
    try file.run("CREATE TABLE t(rowid, _rowid_, oid)")
    #expect(throws: ReplicationFailure.self) { _ = try PublishedSchema(file.raw) }
    try file.run("DROP TABLE t; CREATE TABLE t(a); PRAGMA writable_schema = ON")
    try file.run(
      "UPDATE sqlite_schema SET sql = 'CREATE TABLE t(a COLLATE nowhere UNIQUE)'; PRAGMA writable_schema = RESET")
    do {
      _ = try PublishedSchema(file.raw)
      Issue.record("a collation that nobody has was taken")
    } catch let error as ReplicationFailure {
      #expect(error.description.contains("the table t cannot be replicated"))
    } catch {
      // A unique index is missing: SQLite itself does not read such a file.
    }
  }
}

extension PreparedStatement {
  fileprivate convenience init(_ connection: OpaquePointer, _ sql: String) throws {
    try self.init(connection, sql, isPersistent: false)
  }

  /// The first value of its first row.
  fileprivate var value: String? { (try? step()) == true ? text(0) : nil }
}
