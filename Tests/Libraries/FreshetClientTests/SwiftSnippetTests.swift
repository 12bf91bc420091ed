import Foundation
import FreshetClient
import Server
import ServerSupport
import Synchronization
import TestSupport
import Testing

/// "Use this list" as Swift. query-text.test.mjs checks that the lines between the marks equal the page's text; this
/// test checks that they work.
@MainActor @Suite struct SwiftSnippetTests {
  private final class Printed: Sendable {
    let lines = Mutex<[String]>([])
  }

  @Test func `The page's Swift follows the list`() async throws {
    let live = try LiveServer(
      #"""
      CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT);
      INSERT INTO bank VALUES (1, 'a "b" \c', 'GA'), (2, 'x', 'GA'), (9007199254740993, 'a "b" \c', 'FL');
      """#)
    let address = "http://127.0.0.1:\(live.server.port)/"
    let printed = Printed()
    let print = { @Sendable (count: Int, names: [String]) in printed.lines.withLock { $0.append("\(count) \(names)") }
    }
    let following = Task {
      // snippet
      let database = try RemoteDatabase(address)
      let list = database.results(
        Query(
          from: "bank",
          select: ["id", "name"],
          where: #"name = :name AND "id" <= :most AND :none IS NULL AND :bytes = x'00ff' AND state <> '\'"#,
          parameters: ["name": #"a "b" \c"#, "most": 9007199254740993, "none": nil, "bytes": .blob([0, 255])],
          orderBy: ["name DESC"],
          sectionBy: .init("state", isDescending: true, name: "lower(state)")))
      for try await update in list.updates { print(update.results.count, update.results.sections.map(\.name)) }
      // end
    }
    func waits(for line: String) async throws {
      let isPrinted = await eventually { printed.lines.withLock { $0.last } == line }
      try #require(isPrinted, "\(printed.lines.withLock { $0 }), and not \(line)")
    }
    try await waits(for: "2 \(["ga", "fl"])")
    try live.writer.run("DELETE FROM bank WHERE id = 1")
    try await waits(for: "1 \(["fl"])")
    following.cancel()
    live.stop()
  }
}
