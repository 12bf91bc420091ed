import ArgumentParser
import CFreshetSystem
import Following
import Foundation
import Logging
import Replication
import Server

struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve databases: live queries over WebSocket, snapshots over HTTP, static files.",
    discussion: """
      freshet serve app.sqlite
      freshet serve storage/
      freshet serve 'tenants/*.sqlite' shared.sqlite

      One file is served at /v1/…. Of a folder, of several files and of a pattern each file has a name, its path in the folder \
      without its ending, and is served at /db/NAME/v1/…; it is opened by its first client, and closed when nobody uses it.

      Lists follow every change of the file, by any program: the server reads changed rows from the pages that a commit \
      wrote. It writes nothing to the file, and writers need not cooperate. A database in WAL mode is followed row by row; \
      in a rollback-journal mode whole tables are compared after a commit. `PRAGMA journal_mode = WAL` changes the mode \
      permanently. The server listens on 127.0.0.1 unless --host says otherwise. It shuts down cleanly at SIGTERM and SIGINT.
      """)

  @Argument(
    help: ArgumentHelp(
      "The SQLite file, or folders and files; not needed when the configuration file names them.", valueName: "db"))
  var database: [String] = []

  @OptionGroup var options: ServeOptions
  @OptionGroup(title: "Applications' own") var reading: ReadingOptions

  @Flag(help: "Let clients on this machine write: transact, POST /v1/transactions.")
  var allowWrites = false

  @Flag(
    help:
      "Serve a private copy, renewed whenever the file changes: for files that another program has for itself, such as a browser's."
  )
  var copy = false

  @Flag(
    inversion: .prefixedNo,
    help: "Wait for a file that is not there. (default: in a terminal it is an error, otherwise it is waited for)")
  var wait: Bool?

  /// If a user starts the server, a missing file is probably a misspelt name. A service may start before the program
  /// that makes the file.
  private var waits: Bool { wait ?? (isatty(STDERR_FILENO) == 0) }

  @Option(
    help: ArgumentHelp(
      "The configuration file (YAML): published queries and settings, which flags and FRESHET_ variables override.",
      valueName: "file"))
  var config: String?

  func run() throws {
    let file = try Settings.file(config)
    let settings = Settings(file: file)
    try reading.apply(file.foreignParts)
    let named = settings.text("FRESHET_DATABASE").map { [$0] } ?? file.database
    let paths = database.isEmpty ? named : database
    guard let first = paths.first else { throw ValidationError("Missing expected argument '<db>'") }
    let allowsWrites = try allowWrites || settings.flag("FRESHET_ALLOW_WRITES") ?? file.allowWrites ?? false
    if paths.count == 1, first.hasSuffix("/"), try options.replication.settings(settings)?.role == .replica {
      // A replica makes its files and their folder.
      do { try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: true) } catch {
        throw CommandFailure("cannot make the folder \(first): \(error.localizedDescription)")
      }
    }
    if DatabasePlaces.areSeveral(paths) {
      if copy { throw CommandFailure("--copy serves a copy of one file") }
      return try options.serve(.several(paths), allowsWrites: allowsWrites, settings)
    }
    let path = try DatabaseFile.expected(first)
    // A replica makes its file.
    if !waits, try options.replication.settings(settings)?.role != .replica, !DatabaseFile.isThere(path) {
      throw CommandFailure("\(DatabaseFile.absence(first)) --wait waits for one to appear.")
    }
    if copy { return try serveCopy(of: path, allowsWrites: allowsWrites, settings) }
    try options.serve(.one(path), allowsWrites: allowsWrites, settings)
  }

  private func serveCopy(of path: String, allowsWrites: Bool, _ settings: Settings) throws {
    if allowsWrites { throw CommandFailure("--copy serves a copy: what clients wrote to it would be lost") }
    if try options.replication.settings(settings) != nil {
      throw CommandFailure("--copy serves a copy, which is not published or replicated")
    }
    var options = options
    // The next start makes a new copy, so no state is kept.
    (options.state.noState, options.state.state) = (true, nil)
    let copy = try PrivateCopy(of: path)
    defer { copy.stop() }
    try options.serve(.one(copy.path), allowsWrites: false, settings) { _ in copy.start() }
  }
}

/// The common options of `serve` and `demo`.
struct ServeOptions: ParsableArguments {
  @Option(name: .customLong("host"), help: "The address to listen on. (default: 127.0.0.1)")
  var hostOption: String?

  @Option(help: "The port to listen on; 0 takes a free one and logs it. (default: 8080)")
  var port: Int?

  @Option(help: "Threads that serve sockets. (default: as many as processors, at most 4)")
  var serviceThreads: Int?

  @Flag(help: "Let clients ask queries of their own although other machines can reach the server (see --host).")
  var allowQueries = false

  @Flag(
    help: "Let everyone who can reach the server read and write every table, without a token, from other machines too.")
  var allowEveryoneToReadAndWrite = false

  @Option(
    name: .customLong("public"),
    help: ArgumentHelp("The directory of static files; by default the bundled demo page.", valueName: "dir"))
  var publicDirectory: String?

  @Option(help: ArgumentHelp("Let pages of another origin connect; can be repeated.", valueName: "origin"))
  var allowOrigin: [String] = []

  @Option(
    help: ArgumentHelp(
      "Answer to this host name alone; can be repeated. On loopback its names are answered to anyway.",
      valueName: "name"))
  var allowHost: [String] = []

  @Option(help: "Compare lists with fresh runs of their queries: off, idle (the default), or always (for tests).")
  var selfCheck: SelfCheckMode?

  @OptionGroup var door: DoorOptions
  @OptionGroup var logs: LogOptions
  @OptionGroup var replication: ReplicationOptions
  @OptionGroup var state: StateOptions

  @Option(
    help: ArgumentHelp(
      "How much to log: trace, debug, info, notice, warning, error or critical.", valueName: "level"),
    transform: { name in
      guard let level = Logger.Level(rawValue: name) else { throw ValidationError("\(name) is no log level.") }
      return level
    })
  var logLevel: Logger.Level = .info

  /// The address to listen on, as far as flags and variables say.
  var host: String { hostOption ?? Settings().text("FRESHET_HOST") ?? "127.0.0.1" }

  func validate() throws {
    guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port must be 0 to 65535.") }
  }

  /// The source that is served.
  enum Served {
    /// A file.
    case one(String)
    /// Files, folders and patterns.
    case several([String])
  }

  /// Serves until SIGTERM or SIGINT.
  func serve(
    _ served: Served, allowsWrites: Bool, _ settings: Settings = Settings(),
    whenListening: (FreshetServer) throws -> Void = { _ in }
  ) throws {
    // Signals are blocked first: from here on they wait until there is a server to stop or reload.
    let signals = TerminationSignals()
    system_keep_little_free_memory()
    let level = logLevel
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    let logger = Logger(label: "freshet")
    var configuration = try configuration(served, allowsWrites: allowsWrites, settings)
    let end = ForcedEnd(logger)
    let failure = Failure()
    configuration.ending.mustEnd = { failure.end(because: $0) }
    // Made before the server opens files, because closing any descriptor of a file drops all locks that this process
    // has on it.
    let notices = Notices(served)
    let host = configuration.listening.host

    let server: FreshetServer
    do { server = try FreshetServer(configuration, logger: logger) } catch {
      throw CommandFailure("\(error)")
    }
    let name = host.contains(":") ? "[\(host)]" : host
    logger.info("serving \(notices.name) at \(server.scheme)://\(name):\(server.port)/")
    notices.log(logger)
    for name in try Variables.unknown() { logger.notice("\(name) is not a setting of freshet: it changes nothing") }
    server.logAccess()
    if let port = server.metricsPort { logger.info("serving metrics at port \(port)") }
    try whenListening(server)
    system_notify_service_manager("READY=1")
    let signal = signals.wait { server.hangUp() }
    end.schedule(signal)
    system_notify_service_manager("STOPPING=1")
    logger.info("stopping", metadata: ["signal": "\(signal)"])
    server.stop()
    logger.info("stopped")
    if let reason = failure.reason { throw CommandFailure(reason) }
  }

  private func configuration(
    _ served: Served, allowsWrites: Bool, _ settings: Settings
  ) throws -> ServerConfiguration {
    let file = settings.file
    var configuration: ServerConfiguration
    switch served {
    case .one(let path): configuration = ServerConfiguration(database: path, accessOf: file)
    case .several(let paths):
      do { configuration = ServerConfiguration(places: try DatabasePlaces(paths), accessOf: file) } catch {
        throw CommandFailure("\(error)")
      }
    }
    configuration.listening.host = hostOption ?? settings.text("FRESHET_HOST") ?? configuration.listening.host
    configuration.listening.port = try port ?? settings.port() ?? configuration.listening.port
    configuration.pages.clientDirectory = PublicDirectory.bundled
    configuration.pages.directory = publicDirectory ?? configuration.pages.clientDirectory
    configuration.access.allowsWrites = allowsWrites
    configuration.access.allowsAdHocQueries =
      allowQueries ? true : try settings.flag("FRESHET_ALLOW_QUERIES") ?? configuration.access.allowsAdHocQueries
    configuration.access.allowsEveryoneToReadAndWrite =
      try allowEveryoneToReadAndWrite
      || settings.flag("FRESHET_ALLOW_EVERYONE_TO_READ_AND_WRITE")
        ?? configuration.access.allowsEveryoneToReadAndWrite
    configuration.pages.allowedOrigins = Set(
      try settings.list(allowOrigin, "--allow-origin", "FRESHET_ALLOWED_ORIGINS", AllowedOrigin.mistake)
        ?? file.allowedOrigins ?? [])
    let hosts = try settings.list(allowHost, "--allow-host", "FRESHET_ALLOWED_HOSTS", AllowedHost.mistake)
    configuration.pages.allowedHosts = Set((hosts ?? file.allowedHosts ?? []).map { $0.lowercased() })
    configuration.lists.selfCheck = try selfCheck ?? settings.selfCheck() ?? configuration.lists.selfCheck
    for limit in LimitSetting.allCases {
      if let value = try settings.limit(limit) { configuration.limits.set(limit, to: value) }
    }
    if let serviceThreads { configuration.limits.set(.serviceThreads, to: serviceThreads) }
    configuration.listening.socket = try PassedSocket.take()
    logs.apply(to: &configuration, settings)
    configuration.state.folder = state.folder(settings)
    if let replication = try replication.settings(settings) { configuration.set(replication) }
    do { try configuration.set(try door.settings(settings)) } catch let error as ServerError {
      throw CommandFailure("\(error)")
    }
    return configuration
  }
}

extension SelfCheckMode: ExpressibleByArgument {}
