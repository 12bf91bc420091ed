import Foundation
import TestSupport
import Testing

@testable import ChangeCapture
@testable import Store

/// A program may overwrite a file without its WAL, or only set its times: if size and header stay the same, inotify's
/// reports distinguish the two.
@Suite struct FileContentsTests {
  private let folder: TemporaryFolder
  private let path: String
  private let connection: Connection

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    connection = try Connection(path)
  }

  private func noted() throws -> FileContents {
    try PreparedStatement.run(connection.raw, "BEGIN")
    _ = try PreparedStatement(connection.raw, "SELECT * FROM t").step()
    var contents = FileContents(of: connection.raw)
    contents.note(usesWAL: true)
    try PreparedStatement.run(connection.raw, "COMMIT")
    usleep(20_000)
    #expect(contents.look() == .own)
    return contents
  }

  private func setTime(_ seconds: Double) throws {
    try FileManager.default.setAttributes([.modificationDate: Date() + seconds], ofItemAtPath: path)
  }

  @Test func `A write is noticed although it sets the time before it is reported`() throws {
    var contents = try noted()
    try setTime(0)
    #expect(contents.look() == .own)
    contents.isReported = true
    #expect(contents.look() == .overwritten)
  }

  @Test(arguments: [-60.0, 0, 60]) func `A file whose time is set is found touched`(seconds: Double) throws {
    var contents = try noted()
    try setTime(seconds)
    #expect(comesTrue { contents.look() != .own })
    #expect(contents.look() == .touched)
  }
}
