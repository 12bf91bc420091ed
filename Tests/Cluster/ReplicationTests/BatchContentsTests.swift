import CSQLite
import Ground
import LiveQuery
import TestSupport
import Testing

@testable import Replication
@testable import Store

@Suite("What batches are made of")
struct BatchContentsTests {
  @Test("Servers of other releases read the same bytes: those of version 1 of the log")
  func wire() throws {
    var contents = ByteWriter()
    contents.add(LogTable(name: "t", columns: ["id", "é"], keyCount: 1))
    contents.add(.put)
    for value in [.integer(-1), .null, .real(1)] as [PackedValue] { contents.add(value) }
    Array("ab".utf8).withUnsafeBytes { bytes in
      contents.add(.text(bytes))
      contents.add(.blob(bytes))
    }
    contents.add([SchemaObject(type: "table", name: "t", table: "t", sql: "x", isStored: true)])
    contents.add(TableDigest(after: [1], through: [], count: 300, hash: [9]))
    #expect(
      contents.bytes == [
        2, 1, 0x74, 1, 2, 2, 0x69, 0x64, 2, 0xC3, 0xA9, 4, 1, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 3, 2, 0x61, 0x62,
        4, 2, 0x61, 0x62, 1, 1, 5, 0x74, 0x61, 0x62, 0x6C, 0x65, 1, 0x74, 1, 0x74, 1, 1, 0x78, 1, 7, 1, 1, 0, 0xAC, 2,
        9,
      ])
    let (position, hash) = (LogPosition(beginning: "e", commit: 5), LogPosition(beginning: "e", commit: 5).hash)
    let batch = LogBatch(
      .beginning, epoch: "e", began: 1, number: 0, commitBefore: -64, commit: 64, time: 1 << 40, contents: [7])
    let message = try #require(LogMessage.parts(of: batch, after: position, longest: 4_096).first)
    #expect(
      message.bytes == [0xF5, 0x4C, 1, 0, 1, 1, 0x65, 2, 0, 0, 0x7F, 0x80, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40] + hash
        + hash + [7])
    #expect(message.bytes.withUnsafeBytes { LogMessage($0) } == message)
    let piece = SnapshotMessage.piece(id: "s", index: 1, length: 200, bytes: [8, 9])
    #expect(piece.bytes == [0xF5, 0x53, 1, 0, 1, 0x73, 1, 0xC8, 1, 8, 9])
    #expect(piece.bytes.withUnsafeBytes { SnapshotMessage($0) } == piece)
  }

  @Test("Garbage is refused, and nothing is read beyond its end", arguments: 0..<200)
  func garbage(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...9, using: &generator) }
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      do throws(ByteReader.Malformed) {
        while !reader.isAtEnd {
          switch try reader.item() {
          case .schema: _ = try reader.objects()
          case .table: _ = try reader.table()
          case .digest: _ = try reader.digest()
          default: _ = try reader.value()
          }
        }
      } catch {}
      #expect(reader.left >= 0)
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
      // Tables that SQLite makes for itself stay, but empty.
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
