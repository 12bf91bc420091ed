import ArgumentParser
import LiveClient
import LiveQuery
import TerminalWatch
import Wire

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Follow a query of a server: a live list in the terminal, or lines for a pipe.",
    discussion: """
      freshet watch http://127.0.0.1:8080 well
      freshet watch http://127.0.0.1:8080 well --select name,depth --section-by county --where 'depth > :min' --param min=1000
      freshet watch ws://127.0.0.1:8080/v1/live '{"from": "well", "orderBy": ["depth DESC"]}' --json

      On a terminal, rows that the last change brought, moved or changed stand out (NO_COLOR: in bold); arrows, PgUp, PgDn, \
      Home and End move the window, q or Ctrl-C leaves. Elsewhere it prints the list, values between tabs, and then what changes: \
      - and + for rows that went and came, > for those that moved, * for those that changed in place.

      When the connection is lost it tries again, after half a second at first and half a minute at last, and goes on from the \
      version it has.

      Exit status: 0 when it is left, or after --once; 1 when the server cannot be reached at first or reports an error that ends \
      the query; 64 for wrong arguments.
      """)

  @Argument(help: ArgumentHelp("http(s)://host:port, or ws(s)://host:port/path.", valueName: "url"))
  var url: String

  @Argument(help: ArgumentHelp("A query as JSON, or what to select from: a table.", valueName: "query"))
  var query: String?

  @Option(help: "A query that the server's operator has published, instead of one given here.")
  var name: String?

  @OptionGroup(title: "Query") var parts: QueryParts

  @Option(
    help: ArgumentHelp(
      "A JSON Web Token that says who is watching; other users of the machine can see it here, but not in FRESHET_TOKEN.",
      valueName: "token"))
  var token: String?

  @Flag(help: "Print the server's messages as they come, one a line.")
  var json = false

  @Flag(help: "Print the result once and exit.")
  var once = false

  @Option(help: "The first row of the window, from 0.")
  var offset: Int?

  @Option(help: "How many rows the window has; by default what fits the terminal, elsewhere all (100 with --offset).")
  var limit: Int?

  func validate() throws {
    if let offset, offset < 0 { throw ValidationError("--offset must be 0 or more.") }
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    _ = try endpoint()
    _ = try watchedQuery()
  }

  func run() throws {
    let isScreen = WatchDisplay.hasScreen && !json && !once
    let window: Window?
    switch (offset, limit) {
    case (nil, nil) where !isScreen: window = nil
    default: window = Window(offset: offset ?? 0, limit: limit ?? (isScreen ? WatchDisplay.screenRows : 100))
    }
    let session = WatchSession(address: url, query: try watchedQuery().json(), window: window, token: accessToken)
    let display: WatchDisplay = json ? .messages : isScreen ? .screen : .lines
    let loop = WatchLoop(try endpoint(), session, isOnce: once, display: display)
    do { try loop.run() } catch { throw CommandFailure("\(error)") }
  }

  private var accessToken: AccessToken? { (token ?? Settings().text("FRESHET_TOKEN")).map { AccessToken($0) } }

  private func endpoint() throws -> Endpoint {
    if !url.contains("://"), DatabaseFile.isThere(url) {
      throw ValidationError(
        """
        \(url) is a file, and watch follows a server: start one with `freshet serve \(url)`, then \
        `freshet watch http://127.0.0.1:8080 TABLE`.
        """)
    }
    do { return try Endpoint(url: url) } catch { throw ValidationError("\(error).") }
  }

  private func watchedQuery() throws -> WatchQuery {
    try parts.query(query, name: name)
  }
}
