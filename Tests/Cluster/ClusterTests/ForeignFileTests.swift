import Broker
import Foundation
import Logging
import Replication
import ServerSupport
import Synchronization
import TestSupport
import Testing

@testable import Server

/// A file at a replica's path that was not made by a replica is another program's data.
@Suite struct ForeignFileTests {
  private static let schema =
    "PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1);"

  @Test(arguments: ["", "CREATE TABLE _freshet_replica(id INTEGER PRIMARY KEY);"])
  func `A server that is to make a replica of it ends, and leaves it as it is`(more: String) throws {
    let folder = try ProgramFolder(Self.schema + more)
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.database))
    let ended = try Program.run("serve", folder.database, "--port", "0", "--replicate", "nats://127.0.0.1:1/test")
    #expect(ended.status == 1 && ended.errors.contains("is not a replica's file, and is left as it is"), "\(ended)")
    for advice in ["delete", "remove", "rm "] { #expect(!ended.errors.contains(advice), "\(ended)") }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.database)) == before)
  }

  @Test(.enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
  func `One that appears before the first snapshot ends the replica, and stays`() throws {
    let folder = try TemporaryFolder()
    let broker = try BrokerProcess(storage: folder.path("broker"))
    defer { broker.kill() }
    let program = try Program([
      "serve", folder.path("copy.sqlite"), "--port", "0", "--replicate", broker.url("test"),
    ])
    _ = try program.port()
    try SQLiteShell(path: folder.path("copy.sqlite")).run(Self.schema)
    #expect(program.status(within: 20) == 1)
    #expect(try program.errorOutput().contains("is not a replica's file, and is left as it is"))
    #expect(try SQLiteShell(path: folder.path("copy.sqlite")).run("SELECT count(*) FROM t") == "1")
  }
}
