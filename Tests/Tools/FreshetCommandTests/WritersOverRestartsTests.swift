import Foundation
import ServerSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// HTTP clients that write while the server is restarted again and again: they do not notice restarts.
@Suite struct WritersOverRestartsTests {
  private static let schema = "PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);"

  /// The clients' knowledge of their transactions.
  private struct Known {
    var port = 0
    var isOver = false
    /// Names of transactions that were acknowledged.
    var acknowledged: [String] = []
    /// How often an answer was lost, or said that the server was stopping.
    var repeats = 0
    var unknown = 0
    var epochs: Set<String> = []
    var unexpected: [String] = []
  }

  private final class Shared: Sendable {
    let known = Mutex(Known())
  }

  /// Writes until it is stopped; unacknowledged writes are sent again under their names.
  private static func write(_ client: Int, _ shared: Shared) {
    let known = { (body: (inout Known) -> Void) in shared.known.withLock { body(&$0) } }
    var number = 0
    var socket: RawSocket?
    while !shared.known.withLock({ $0.isOver }) {
      let name = "\(client)-\(number)"
      let body = #"{"once":"\#(name)","statements":[{"sql":"INSERT INTO t(name) VALUES ('\#(name)')"}]}"#
      do {
        let open = try socket ?? RawSocket(port: shared.known.withLock { $0.port })
        let answer = try open.request("POST", "/v1/transactions", body: body)
        socket = answer.headers["connection"] == "close" ? nil : open
        if [200, 500].contains(answer.status) { number += 1 }
        known { known in
          if let epoch = answer.headers["freshet-epoch"] { known.epochs.insert(epoch) }
          switch answer.status {
          case 200: known.acknowledged.append(name)
          case 503: known.repeats += 1
          // The transaction was running when the server was killed.
          case 500 where answer.text.contains("was killed"): known.unknown += 1
          default: known.unexpected.append("\(answer.status) \(answer.text)")
          }
        }
      } catch {
        socket = nil
        known { $0.repeats += 1 }
        usleep(2_000)
      }
    }
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `Transactions with a name run once over restarts, and the epoch stays`(signal: Int32) throws {
    let folder = try ProgramFolder(Self.schema)
    let shared = Shared()
    func serve() throws -> Program {
      let program = try Program(
        ["serve", folder.database, "--port", "0", "--state", folder.path + "/states", "--allow-writes"])
      let port = try program.port()
      shared.known.withLock { $0.port = port }
      return program
    }
    var program = try serve()
    let ended = DispatchGroup()
    for client in 0..<3 { DispatchQueue.global().async(group: ended) { Self.write(client, shared) } }
    defer { shared.known.withLock { $0.isOver = true } }
    for _ in 0..<TestDepth.count(8, long: 40) {
      let before = shared.known.withLock { $0.acknowledged.count }
      #expect(comesTrue { shared.known.withLock { $0.acknowledged.count } >= before + 20 })
      program.signal(signal)
      if signal == SIGTERM {
        #expect(program.status(within: 20) == 0)
      } else {
        #expect(program.endingSignal(within: 20) == SIGKILL)
      }
      program = try serve()
    }
    shared.known.withLock { $0.isOver = true }
    ended.wait()
    program.stop()
    let all = shared.known.withLock { $0 }
    #expect(all.epochs.count == 1 && all.unexpected.isEmpty)
    #expect(all.repeats > 0 && (signal == SIGKILL || all.unknown == 0))
    let rows = try SQLiteShell(path: folder.database).run("SELECT name FROM t ORDER BY id").split(separator: "\n")
    #expect(Set(rows).count == rows.count, "each ran once")
    #expect(Set(all.acknowledged).isSubset(of: rows.map(String.init)))
  }

  @Test func `A client may have a transaction run in one epoch alone`() throws {
    let folder = try ProgramFolder(Self.schema)
    let program = try Program(["serve", folder.database, "--port", "0", "--allow-writes"])
    let socket = try RawSocket(port: try program.port())
    let epoch = try #require(try socket.request("GET", "/v1/snapshot?from=t").headers["freshet-epoch"])
    func post(_ epoch: String, _ name: String) throws -> RawResponse {
      let insert = #"[{"sql":"INSERT INTO t(name) VALUES ('\#(name)')"}]"#
      return try socket.request(
        "POST", "/v1/transactions", body: #"{"epoch":"\#(epoch)","once":"\#(name)","statements":\#(insert)}"#)
    }
    let refused = try post("another", "a")
    #expect(refused.status == 409 && refused.text.contains(#""code":"constraint""#) && refused.text.contains(epoch))
    #expect(refused.headers["freshet-epoch"] == epoch)
    // The refusal is not the transaction's outcome.
    for name in ["a", "a", "b"] { #expect(try post(epoch, name).status == 200) }
    program.stop()
    #expect(try SQLiteShell(path: folder.database).run("SELECT group_concat(name) FROM t") == "a,b")
  }

  /// Requests that take longer than the server's patience are answered, too.
  @Test(arguments: [1_000_000, 1_000_000_000])
  func `A GET that is under way is answered before the end`(count: Int) throws {
    let folder = try ProgramFolder(Self.schema)
    let program = try Program(["serve", folder.database, "--port", "0"])
    let port = try program.port()
    let socket = try RawSocket(port: port)
    let target =
      "/v1/snapshot?from=(WITH%20RECURSIVE%20n(i)%20AS%20(SELECT%201%20UNION%20ALL%20SELECT%20i%2B1%20FROM%20n%20WHERE%20i%3C\(count))%20SELECT%20count(*)%20AS%20c%20FROM%20n)&key=c"
    try socket.write("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    // Later requests on other connections are answered when the first one runs.
    for _ in 0..<3 { #expect(try RawSocket(port: port).request("GET", "/healthz").status == 200) }
    program.signal(SIGTERM)
    let answer = try socket.readResponse()
    if answer.status == 503 {
      #expect(answer.text.contains(#""code":"shutting_down""#))
    } else {
      #expect(answer.status == 200 && count == 1_000_000)
    }
    #expect(program.status(within: 20) == 0)
  }
}
