import CSQLite
import Foundation
import LiveQuery
import TestSupport
import Testing

@testable import Store

/// Our connections checkpoint while nothing can commit, and never otherwise, where SQLite has the WAL-reset bug.
@Suite(.enabled(if: WALResetBug.isPresent)) struct GuardedCheckpointTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("app.sqlite")
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
  }

  private func insert(_ numbers: Range<Int>, _ writer: Writer) throws {
    for number in numbers {
      try #require(try writer.begin())
      _ = try writer.transact(
        Transaction([
          .init(sql: "INSERT INTO t VALUES (?, 'text')", parameters: .positional([.integer(Int64(number))]))
        ]))
    }
  }

  private var walFrames: Int { (FileIdentity.size(path: path + "-wal") - 32) / (4_096 + 24) }

  /// The last frame, and the number of frames counted as copied, from the WAL-index.
  private func index() throws -> (last: UInt32, backfilled: UInt32) {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path + "-shm"))
    func word(_ offset: Int) -> UInt32 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
    return (word(16), word(96))
  }

  @Test(
    arguments: [
      (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true), (3_044_006, false),
      (3_045_000, true),
      (3_046_001, true), (3_050_006, true), (3_050_007, false), (3_051_000, true), (3_051_002, true),
      (3_051_003, false),
      (3_053_000, false),
    ])
  func theVersionsThatHaveTheBugAreKnown(version: Int32, hasIt: Bool) { #expect(WALResetBug.affects(version) == hasIt) }

  @Test func theWALOfOurOwnWritesStaysShort() throws {
    let writer = try Writer(path: path)
    try insert(0..<3_000, writer)
    #expect(walFrames < 1_100, "3,000 commits of one page or two")
    #expect(try SQLiteShell(path: path).run("SELECT count(*) FROM t; PRAGMA integrity_check") == "3000\nok")
  }

  @Test func aReaderThatStaysOnlyDelaysIt() throws {
    let writer = try Writer(path: path)
    var reader: Connection? = try Connection(path)
    try reader?.run("BEGIN; SELECT count(*) FROM t")
    try insert(0..<1_500, writer)
    #expect(walFrames >= 1_500)
    try reader?.run("COMMIT")
    reader = nil
    try insert(1_500..<1_800, writer)
    #expect(try index().last < 1_100, "it has started over")
  }

  @Test func closingCopiesWhatWasCommittedAndKeepsTheWAL() throws {
    var writer: Writer? = try Writer(path: path)
    try insert(0..<10, writer!)
    writer = nil
    let (last, backfilled) = try index()
    #expect(last >= 10 && backfilled == last)
    #expect(walFrames >= 10, "SQLite's own last connection deletes it")
  }

  @Test func nothingIsCheckpointedWhileAnotherProgramMayCommit() throws {
    var writer: Writer? = try Writer(path: path)
    try insert(0..<10, writer!)
    let other = try SQLiteSession(path: path)
    try other.run("PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE")
    writer = nil
    let (last, backfilled) = try index()
    #expect(last >= 10 && backfilled == 0)
    try other.run("COMMIT")
  }

  @Test func connectionsThatReadLeaveTheWALToOthers() throws {
    let other = try SQLiteSession(path: path)
    try other.run("PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (1, 2)")
    var reader: Connection? = try Connection(path)
    try reader?.run("SELECT count(*) FROM t")
    #expect(try index().backfilled == 0)
    reader = nil
    #expect(try index().backfilled == 0)
  }

  @Test func aCheckpointThatNothingGuardsIsNotMade() throws {
    let other = folder.path("other.sqlite")
    try SQLiteShell(path: other).run("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
    var connection: OpaquePointer?
    try #require(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    defer { sqlite3_close(connection) }
    WALResetBug.avoid(connection!)
    let checkpoint = GuardedCheckpoint(for: connection!, path: other, patience: 0)
    try PreparedStatement.run(connection!, "INSERT INTO t VALUES (1, 2)")
    #expect(checkpoint.run() == .notNow)
    #expect(try index().backfilled == 0)
    checkpoint.close()
  }

  @Test func besideOtherWritersItIsLeftToThem() throws {
    let writer = try Writer(path: path)
    let other = try SQLiteSession(path: path)
    try other.run("PRAGMA wal_autocheckpoint = 0")
    for number in 0..<20 {
      try insert(number * 100..<number * 100 + 99, writer)
      try other.run("INSERT INTO t VALUES (-\(number + 1), 0)")
    }
    #expect(try index().backfilled == 0 && walFrames > 2_000)
    try insert(10_000..<10_600, writer)
    #expect(walFrames < 2_700, "the other one has stopped")
  }

  /// A foreign program that commits and checkpoints without a pause, and two of Freshet's writers.
  @Test func filesStayWholeBesideAProgramAtFullSpeed() throws {
    let count = 1_500
    let done = DispatchSemaphore(value: 0)
    let path = self.path
    Thread.detachNewThread {
      if let other = try? SQLiteSession(path: path) {
        try? other.run("PRAGMA wal_autocheckpoint = 40; PRAGMA synchronous = OFF")
        for round in 0..<30 {
          let statements = (0..<100).map { "INSERT INTO t VALUES (-\(round * 100 + $0 + 1), zeroblob(3000))" }
          try? other.run(statements.joined(separator: ";"))
        }
      }
      done.signal()
    }
    var writers = try [Writer(path: path), Writer(path: path)]
    for number in 0..<count { try insert(number..<number + 1, writers[number % 2]) }
    done.wait()
    writers = []
    #expect(
      try SQLiteShell(path: path).run("SELECT count(*), sum(a >= 0) FROM t; PRAGMA integrity_check")
        == "\(count + 3_000)|\(count)\nok")
  }
}
