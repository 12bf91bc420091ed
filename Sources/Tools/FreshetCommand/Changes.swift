import ArgumentParser
import ChangeCapture
import Feed
import Following
import Foundation
import LiveQuery
import Logging
import Requests
import Wire

struct Changes: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Follow every change of a file's rows, by any program: lines of JSON, a command or a webhook for each commit.",
    discussion: """
      freshet changes app.sqlite
      freshet changes app.sqlite --table orders --columns id,total --where 'total > 10'
      freshet changes app.sqlite --once
      freshet changes app.sqlite --webhook https://example.com/hook
      freshet changes app.sqlite --exec 'jq -c .changes >> log'

      It needs no server and writes nothing to the file. Without --once it goes on until it is interrupted.

      With --once it prints what has changed since the last time and ends: what did this program do to my file? The first time \
      it only looks. With --exec or --webhook each commit is handed over in its order and again until it was taken, at least \
      once; after a restart it goes on where it was, with what was written meanwhile. For both, what is known of the file is kept in \
      --state, under the name that --consumer gives.

      A command gets the line at its standard input, and has failed unless it ends with 0. A webhook gets a POST, signed as \
      standardwebhooks.com says with the secret of FRESHET_WEBHOOK_SECRET, and has taken it when it answers 2xx.
      """)

  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "database"))
  var database: String

  @Option(help: "A table; may be given several times. By default all.")
  var table: [String] = []

  @Option(help: "Columns of the one table that is named, separated by commas; by default all.")
  var columns: String?

  @Option(name: .customLong("where"), help: "SQL that is true for the rows of the one table that is named.")
  var filter: String?

  @Option(help: "The position to go on from, of an earlier line.")
  var since: String?

  @Flag(help: "Go on until interrupted: what it does anyway.")
  var follow = false

  @Flag(help: "Print what has changed since the last time, and end.")
  var once = false

  @Option(help: ArgumentHelp("Run a command for each commit.", valueName: "command"))
  var exec: String?

  @Option(help: ArgumentHelp("Send each commit to an address.", valueName: "url"))
  var webhook: String?

  @Option(help: "The name under which it is kept how far this one is; two of them go on independently.")
  var consumer = "default"

  @OptionGroup var state: StateOptions
  @OptionGroup(title: "Applications' own") var reading: ReadingOptions

  func validate() throws {
    if follow, once { throw ValidationError("--follow and --once contradict each other.") }
    if exec != nil, webhook != nil { throw ValidationError("--exec and --webhook: one of them.") }
    if table.count != 1, columns != nil || filter != nil {
      throw ValidationError("--columns and --where are those of one table: name it with --table.")
    }
    if let webhook, !["http", "https"].contains(URL(string: webhook)?.scheme?.lowercased()) {
      throw ValidationError("--webhook must be an address with http or https.")
    }
    if consumer.isEmpty || !consumer.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) {
      throw ValidationError("--consumer must be letters, digits and hyphens.")
    }
    if !DatabaseFile.isThere(database) { throw ValidationError("there is no file \(database).") }
  }

  func run() throws {
    try reading.apply()
    let settings = Settings()
    let signals = TerminationSignals()
    var logger = Logger(label: "freshet") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .warning
    let keeper = try position(settings, logger)
    let queue = ChangesQueue()
    var configuration = FeedConfiguration()
    configuration.journal = keeper?.journal
    let feed = ChangeFeedThread(FollowedFile(database), configuration, output: queue, waiter: 0, logger: logger)
    let key = SubscriptionKey(session: 1, id: "changes", number: 1)
    let known = since ?? keeper?.known
    feed.subscribe(FeedSubscription(key: key, request: request, access: Query.Access(), since: known))
    if once { feed.whenCaughtUp(key) { queue.put(.caughtUp($0)) } }
    Thread.detachNewThread {
      _ = signals.wait {}
      queue.put(.stop)
    }
    if once, known == nil {
      FileHandle.standardError.write(
        Data("this is the first look at \(database): the next one prints what has changed by then\n".utf8))
    }
    defer { feed.stop() }
    try ChangesDelivery(handler, keeper).run(queue) { feed.requestTick() }
  }

  private var request: ChangesRequest {
    var request = ChangesRequest(tables: table.isEmpty ? nil : table)
    if let columns {
      request.columns[table[0]] = columns.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    if let filter { request.filters[table[0]] = filter }
    return request
  }

  private var handler: any ChangesHandler {
    if let exec { return CommandHandler(exec) }
    if let webhook, let url = URL(string: webhook) {
      return WebhookHandler(url, secret: ProcessInfo.processInfo.environment["FRESHET_WEBHOOK_SECRET"])
    }
    return LineHandler()
  }

  /// The keeper of this consumer's position; nil: it is not kept.
  private func position(_ settings: Settings, _ logger: Logger) throws -> ChangesPosition? {
    guard once || exec != nil || webhook != nil || since != nil else { return nil }
    guard let folder = state.folder(settings) else {
      if since == nil { throw CommandFailure("it cannot be kept how far this is: name a folder with --state") }
      return nil
    }
    do throws(StateFailure) {
      return try ChangesPosition(of: database, consumer: consumer, in: folder, logger: logger)
    } catch { throw CommandFailure("\(error)") }
  }
}
