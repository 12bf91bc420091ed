import Foundation
import LiveQuery
import TestSupport
import Testing

@testable import Store

/// The -wal or -shm is deleted in the middle of a client's transaction.
@Suite struct WriterFilesTests {
  private func makeFile() throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    return path
  }

  private func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  @Test(arguments: [["-wal"], ["-shm"], ["-wal", "-shm"]])
  func whatIsAcknowledgedIsInTheFile(suffixes: [String]) throws {
    let path = try makeFile()
    defer { remove(path) }
    var writer: Writer? = try Writer(path: path)
    #expect(try writer?.begin() == true)
    for suffix in suffixes { try FileManager.default.removeItem(atPath: path + suffix) }
    #expect(
      try writer?.transact(.init([.init(sql: "INSERT INTO t VALUES (2), (3)", parameters: .none)])).first?.changes == 2)
    #expect(writer?.isDoubtful == true)
    #expect(try SQLiteShell(path: path).run("SELECT group_concat(a) FROM t") == "1,2,3")
    #expect(try writer?.begin() == false, "the connection is of no use any more")
    writer = nil
    #expect(try SQLiteShell(path: path).run("SELECT group_concat(a) FROM t; PRAGMA integrity_check") == "1,2,3\nok")
  }

  @Test func whatOthersHaveBegunIsNotTouched() throws {
    let path = try makeFile()
    defer { remove(path) }
    let writer = try Writer(path: path)
    #expect(try writer.begin())
    for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
    let other = try SQLiteSession(path: path)
    // The open transaction does not block programs that have other files.
    try other.run("INSERT INTO t VALUES (9)")
    let error = #expect(throws: FreshetError.self) {
      try writer.transact(.init([.init(sql: "INSERT INTO t VALUES (2)", parameters: .none)]))
    }
    #expect(error?.code == .internal && error?.message.contains("may be lost") == true)
    #expect(try SQLiteShell(path: path).run("SELECT group_concat(a) FROM t; PRAGMA integrity_check") == "1,9\nok")
  }
}
