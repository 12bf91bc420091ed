import ArgumentParser
import Foundation
import FreshetRemote
import LiveQuery
import Synchronization
import TerminalWatch
import Wire

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Follow a query of a server: a live list in the terminal, or lines for a pipe.",
    discussion: """
      freshet watch http://127.0.0.1:8080 well
      freshet watch http://127.0.0.1:8080 well --select name,depth --section-by county --where 'depth > :min' --param min=1000
      freshet watch ws://127.0.0.1:8080/v1/live '{"from": "well", "orderBy": ["depth DESC"]}' --json

      On a terminal, rows that the last change inserted, moved or updated are highlighted (with NO_COLOR, in bold). Arrows, \
      PgUp, PgDn, Home and End move the window; q or Ctrl-C quits. Otherwise it prints the list, with tabs between values, \
      and then the changes: - for deleted rows, + for inserted ones, > for those that moved, * for those that changed in \
      place, = for totals.

      When the connection is lost it reconnects, waiting half a second at first and half a minute at most, and resumes from \
      the version it has.

      Exit status: 0 after q, Ctrl-C or --once; 1 when the server cannot be reached at the start or reports an error that \
      ends the query; 64 for wrong arguments.
      """)

  @Argument(help: ArgumentHelp("http(s)://host:port, or ws(s)://host:port/path.", valueName: "url"))
  var url: String

  @Argument(help: ArgumentHelp("A query as JSON, a SELECT, or the table to select from.", valueName: "query"))
  var query: String?

  @Option(help: "The name of a published query, instead of a query given here.")
  var name: String?

  @OptionGroup(title: "Query") var parts: QueryParts

  @OptionGroup(title: "Server") var access: ServerAccessOptions

  @Flag(help: "Print the server's messages as they come, one a line.")
  var json = false

  @Flag(help: "Print the result once and exit.")
  var once = false

  @Option(help: "The first row of the window, from 0.")
  var offset: Int?

  @Option(help: "Rows in the window; by default what fits the terminal, or all without one (100 with --offset).")
  var limit: Int?

  func validate() throws {
    if let offset, offset < 0 { throw ValidationError("--offset must be 0 or more.") }
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    try checkAddress()
    _ = try watchedQuery()
  }

  func run() throws {
    let isScreen = WatchDisplay.hasScreen && !json && !once
    let window: Window?
    switch (offset, limit) {
    case (nil, nil) where !isScreen: window = nil
    default: window = Window(offset: offset ?? 0, limit: limit ?? (isScreen ? WatchDisplay.screenRows : 100))
    }
    let display: WatchDisplay = json ? .messages : isScreen ? .screen : .lines
    let loop: WatchLoop
    do {
      loop = try WatchLoop(
        url, Query(QuerySource(json: watchedQuery().json())), window: window,
        token: access.token, authorities: access.trust.ca, isOnce: once, display: display)
    } catch let error as FreshetError {
      throw CommandFailure(error.description)
    }
    if let sentence = wait(for: loop) { throw CommandFailure(sentence) }
  }

  /// - Returns: why it could not continue; nil when the user left it.
  private func wait(for loop: WatchLoop) -> String? {
    let end = WatchEnd()
    Task {
      do { try await loop.run() } catch {
        end.failure.withLock { $0 = (error as? WatchLoop.Failure)?.sentence ?? "\(error)" }
      }
      end.isOver.signal()
    }
    end.isOver.wait()
    return end.failure.withLock { $0 }
  }

  private func checkAddress() throws {
    if !url.contains("://"), DatabaseFile.isThere(url) {
      throw ValidationError(
        """
        \(url) is a file, and watch follows a server: start one with `freshet serve \(url)`, then \
        `freshet watch http://127.0.0.1:8080 TABLE`.
        """)
    }
    do { _ = try ServerAddress(url) } catch { throw ValidationError("\(error.message).") }
  }

  private func watchedQuery() throws -> WatchQuery {
    try parts.query(query, name: name)
  }
}

/// Passes the end of the loop, which runs on other threads, to the command's thread.
private final class WatchEnd: Sendable {
  let failure = Mutex<String?>(nil)
  let isOver = DispatchSemaphore(value: 0)
}
