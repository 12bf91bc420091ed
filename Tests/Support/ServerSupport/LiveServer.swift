import Following
package import Foundation
package import GRDB
package import Logging
package import Server
import Store
package import TestSupport
import Testing
import Wire

/// A database file, a server on a free port, and a shell that writes from another process.
package final class LiveServer {
  package let path: String
  package let server: FreshetServer
  package let writer: SQLiteSession
  package let queue: DatabaseQueue
  package let logger: Logger
  private var isStopped = false

  /// Writes the first commit to the WAL. The feed may report the first commits to an empty WAL together, because it may
  /// have been restarted in between.
  package func beginWAL() throws { try writer.run("PRAGMA user_version = 1") }

  package init(
    _ schema: String, isWAL: Bool = true,
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    _ = try SQLiteShell(path: path).run(schema + (isWAL ? "\n;PRAGMA journal_mode=WAL;" : ""))
    var settings = Configuration()
    settings.busyMode = .timeout(10)
    queue = try DatabaseQueue(path: path, configuration: settings)
    var configuration = ServerConfiguration(database: path)
    configuration.listening.port = 0
    configuration.ending.grace = .milliseconds(50)
    configuration.lists.selfCheck = .off
    configure(&configuration)
    var logger = Logger(label: "test") { DivergenceReporter(StreamLogHandler.standardError(label: $0)) }
    logger.logLevel = ProcessInfo.processInfo.environment["TEST_LOG"].flatMap { .init(rawValue: $0) } ?? .critical
    self.logger = logger
    server = try FreshetServer(configuration, logger: logger)
    writer = try SQLiteSession(path: path)
  }

  package func stop() {
    if isStopped { return }
    isStopped = true
    server.stop()
  }

  /// Begins to stop; the returned semaphore is signaled at the end.
  package func stopInBackground() -> DispatchSemaphore {
    isStopped = true
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [server] in
      server.stop()
      done.signal()
    }
    return done
  }

  deinit {
    stop()
    try? queue.close()
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  /// Replaces the database by another file.
  package func replace(by path: String) throws {
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: self.path + suffix) }
    guard rename(path, self.path) == 0 else { throw RawSocket.Failure(description: "cannot move \(path)") }
  }

  package func connect(receiveBuffer: Int32? = nil, path: String = "/v1/live", headers: [String] = []) throws
    -> LiveClient
  {
    try LiveClient(port: server.port, receiveBuffer: receiveBuffer, path: path, headers: headers)
  }

  /// One HTTP request on a connection of its own.
  package func http(
    _ method: String, _ target: String, headers: [String] = [], body: String? = nil
  ) throws -> RawResponse {
    let response = try RawSocket(port: server.port).request(method, target, headers: headers, body: body)
    try DescribedAnswers.check(response, to: method, target)
    return response
  }
}

/// Turns reports of a server's self-check into test failures.
private struct DivergenceReporter: LogHandler {
  private var handler: StreamLogHandler

  init(_ handler: StreamLogHandler) { self.handler = handler }

  var logLevel: Logger.Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }
  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    if event.level == .critical, "\(event.message)".hasPrefix("a list differed") {
      Issue.record("\(event.message): \(event.metadata ?? [:])")
    }
    handler.log(event: event)
  }
}
