import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import Store

/// Commits of another process, seen without asking SQLite.
@Suite struct WALIndexTests {
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"

  /// A reader's connection and its WAL-index.
  private func index(_ fixture: ChangeLogFixture) throws -> WALIndex? {
    try fixture.queue.read { db in
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
      return WALIndex(of: db.sqliteConnection!)
    }
  }

  @Test func everyCommitMovesIt() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: [])
    var index = try #require(try index(fixture))
    #expect(index.hasMoved, "nothing was noted yet")
    for value in 0..<20 {
      index.note()
      #expect(!index.hasMoved)
      try fixture.write("INSERT INTO t(v) VALUES (\(value))")
      #expect(index.hasMoved)
    }
  }

  @Test func whatWasNotCommittedDoesNot() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: [])
    var index = try #require(try index(fixture))
    index.note()
    try fixture.write("BEGIN; INSERT INTO t(v) VALUES (1); ROLLBACK; SELECT * FROM t")
    #expect(!index.hasMoved)
  }

  @Test func itGoesOnOverCheckpoints() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: [])
    var index = try #require(try index(fixture))
    for value in 0..<5 {
      try fixture.write("PRAGMA wal_checkpoint(TRUNCATE)")
      index.note()
      try fixture.write("INSERT INTO t(v) VALUES (\(value))")
      #expect(index.hasMoved)
    }
  }

  @Test func aRollbackJournalHasNoneAndGetsNone() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try SQLiteShell(path: path).run(Self.schema)
    try DatabaseQueue(path: path).read { db in
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
      #expect(WALIndex(of: db.sqliteConnection!) == nil)
    }
    #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
  }
}
