import ArgumentParser
import Foundation
import GRDB
import Logging
import Server
import Store

struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve a database: live queries over WebSocket, snapshots over HTTP, static files.",
    discussion: """
      Queries are kept up to date for tracked tables: --track installs the change capture first (see `freshet help track`). \
      The server listens on this machine alone unless --host says otherwise. It stops in order at SIGTERM and SIGINT.
      """)

  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"))
  var database: String

  @OptionGroup var options: ServeOptions

  @Flag(help: "Install the change capture for all tables before serving.")
  var track = false

  @Flag(help: "Let clients write: transact, POST /v1/transactions.")
  var allowWrites = false

  func run() throws {
    let path = try DatabaseFile.existing(database)
    if track { try DatabaseFile.track(path, tables: nil) }
    try options.serve(path, allowsWrites: allowWrites)
  }
}

/// What `serve` and `demo` have in common.
struct ServeOptions: ParsableArguments {
  @Option(help: "The address to listen on.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on; 0 takes a free one and logs it.")
  var port = 8080

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

  @Option(
    help: ArgumentHelp(
      "How much to log: trace, debug, info, notice, warning, error or critical.", valueName: "level"),
    transform: { name in
      guard let level = Logger.Level(rawValue: name) else { throw ValidationError("\(name) is no log level.") }
      return level
    })
  var logLevel: Logger.Level = .info

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
  }

  /// Serves until SIGTERM or SIGINT.
  func serve(_ path: String, allowsWrites: Bool, whenListening: (FreshetServer) throws -> Void = { _ in }) throws {
    let level = logLevel
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    let logger = Logger(label: "freshet")
    var configuration = ServerConfiguration(database: path)
    configuration.host = host
    configuration.port = port
    configuration.publicDirectory = publicDirectory ?? PublicDirectory.bundled
    configuration.allowsWrites = allowsWrites
    configuration.allowedOrigins = Set(allowOrigin)
    configuration.allowedHosts = Set(allowHost.map { $0.lowercased() })

    let signals = TerminationSignals()
    let server: FreshetServer
    do { server = try FreshetServer(configuration, logger: logger) } catch {
      throw CommandFailure("\(error)")
    }
    let name = host.contains(":") ? "[\(host)]" : host
    logger.info("serving \(path) at http://\(name):\(server.port)/")
    try whenListening(server)
    let signal = signals.wait()
    logger.info("stopping", metadata: ["signal": "\(signal)"])
    server.stop()
    logger.info("stopped")
  }
}
