import Controllers
import Foundation
import GRDB
import Logging
import Server
import Store
import TestSupport
import Testing
import Wire

/// A database file, a server on a free port, and a shell that writes from another process.
final class LiveServer {
  let path: String
  let server: FreshetServer
  let writer: SQLiteSession
  let queue: DatabaseQueue
  let logger: Logger
  private var isStopped = false

  init(
    _ schema: String, isWAL: Bool = true,
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    _ = try SQLiteShell(path: path).run(schema + (isWAL ? "\n;PRAGMA journal_mode=WAL;" : ""))
    var settings = Configuration()
    settings.busyMode = .timeout(10)
    queue = try DatabaseQueue(path: path, configuration: settings)
    var configuration = ServerConfiguration(database: path)
    configuration.port = 0
    configuration.grace = .milliseconds(50)
    configuration.selfCheck = .off
    configure(&configuration)
    var logger = Logger(label: "test") { DivergenceReporter(StreamLogHandler.standardError(label: $0)) }
    logger.logLevel = ProcessInfo.processInfo.environment["TEST_LOG"].flatMap { .init(rawValue: $0) } ?? .critical
    self.logger = logger
    server = try FreshetServer(configuration, logger: logger)
    writer = try SQLiteSession(path: path)
  }

  func stop() {
    if isStopped { return }
    isStopped = true
    server.stop()
  }

  /// Begins to stop; what is returned is signalled at the end.
  func stopInBackground() -> DispatchSemaphore {
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

  /// Moves another file into the place of the database.
  func replace(by path: String) throws {
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: self.path + suffix) }
    guard rename(path, self.path) == 0 else { throw RawSocket.Failure(description: "cannot move \(path)") }
  }

  func connect(receiveBuffer: Int32? = nil, path: String = "/v1/live", headers: [String] = []) throws -> LiveClient {
    try LiveClient(port: server.port, receiveBuffer: receiveBuffer, path: path, headers: headers)
  }

  /// One HTTP request on a connection of its own.
  func http(
    _ method: String, _ target: String, headers: [String] = [], body: String? = nil
  ) throws -> RawResponse {
    try RawSocket(port: server.port).request(method, target, headers: headers, body: body)
  }
}

/// A WebSocket client with a model for each of its subscriptions.
final class LiveClient {
  let socket: RawWebSocket
  private(set) var models: [String: ClientModel] = [:]
  /// Messages other than those that change a model, oldest first.
  var others: [JSONValue] = []
  /// How many messages changed each model.
  private(set) var changes: [String: Int] = [:]
  /// The last message that changed each model, for what failures say.
  private(set) var last: [String: JSONValue] = [:]
  /// The last error of each subscription.
  private(set) var errors: [String: JSONValue] = [:]
  /// Of the last `hello`.
  private(set) var epoch = ""
  /// What it was when each model was changed.
  private(set) var epochs: [String: String] = [:]
  /// The code of the error that ended a subscription.
  private(set) var ended: [String: String] = [:]

  /// - Parameter receiveBuffer: makes the kernel take little that the client does not read.
  init(port: Int, receiveBuffer: Int32? = nil, path: String = "/v1/live", headers: [String] = []) throws {
    socket = try RawWebSocket(port: port, path: path, headers: headers, receiveBuffer: receiveBuffer)
    let hello = try receive()
    guard hello["type"] == .string("hello") else { throw ClientModel.Violation(description: "no hello: \(hello)") }
  }

  func send(_ text: String) throws { try socket.send(text) }

  /// The next message; those for a model are applied to it.
  @discardableResult
  func receive() throws -> JSONValue {
    while true {
      let frame = try socket.readFrame()
      // Comes to whoever is not heard for long.
      if frame.opcode == .ping { continue }
      guard frame.opcode == .text else {
        throw ClientModel.Violation(description: "a frame that is not text: \(frame.opcode)")
      }
      let message = try JSONParser.parse(frame.payload)
      if message["type"] == .string("hello") { epoch = try message.required("epoch").text() }
      if case .string(let id)? = message["id"], case .string(let type)? = message["type"] {
        if ["snapshot", "patch", "rows"].contains(type) {
          if type != "rows" || models[id]?.isComplete == false || message["window"] != nil {
            changes[id, default: 0] += 1
            last[id] = message
            epochs[id] = epoch
            models[id, default: ClientModel()].epoch = epoch
            try models[id, default: ClientModel()].apply(message)
            ended[id] = nil
          } else {
            others.append(message)
          }
          return message
        }
        if type == "error" { errors[id] = message }
        if type == "error", message["fatal"] == .bool(true) {
          ended[id] = try message.required("code").text()
          models[id] = nil
        }
      }
      others.append(message)
      return message
    }
  }

  /// Returns when the whole snapshot is there, or an error.
  ///
  /// - Parameter more: further members, such as `"shape":"objects"`.
  func subscribe(
    _ id: String, _ query: String, window: (offset: Int, limit: Int)? = nil, more: String = ""
  ) throws {
    ended[id] = nil
    models[id] = nil
    var members = ["\"type\":\"subscribe\"", "\"id\":\"\(id)\"", "\"query\":\(query)"]
    if let window { members.append("\"window\":{\"offset\":\(window.offset),\"limit\":\(window.limit)}") }
    if !more.isEmpty { members.append(more) }
    try send("{\(members.joined(separator: ","))}")
    while models[id]?.isComplete != true, ended[id] == nil { try receive() }
  }

  /// Comes back with what another connection held; returns when the answer is there, a patch or the whole snapshot.
  func resume(_ id: String, _ query: String, _ model: ClientModel, more: String = "") throws {
    models[id] = model
    var members = [
      "\"type\":\"subscribe\"", "\"id\":\"\(id)\"", "\"query\":\(query)", "\"since\":\"\(model.version)\"",
    ]
    if let window = model.window {
      members.append("\"window\":{\"offset\":\(window.offset),\"limit\":\(window.limit)}")
    }
    if !more.isEmpty { members.append(more) }
    let before = changes[id] ?? 0
    try send("{\(members.joined(separator: ","))}")
    while changes[id] ?? 0 == before || models[id]?.isComplete == false, ended[id] == nil { try receive() }
  }

  /// Returns when everything that another process committed before the call has arrived: the answer to a `fetch` comes
  /// after the patch that leads to the state it was read from.
  func catchUp(_ ids: [String]) throws {
    for id in ids where ended[id] == nil {
      try send("{\"type\":\"fetch\",\"id\":\"\(id)\",\"offset\":0,\"limit\":0}")
      while true {
        let message = try receive()
        if message["type"] == .string("rows"), message["id"] == .string(id), message["window"] == nil { break }
        if ended[id] != nil { break }
      }
    }
  }

  /// The next message of a type, others being put aside.
  func receive(_ type: String) throws -> JSONValue {
    if let index = others.firstIndex(where: { $0["type"] == .string(type) }) { return others.remove(at: index) }
    while true {
      let message = try receive()
      guard message["type"] == .string(type) else { continue }
      if others.last == message { others.removeLast() }
      return message
    }
  }
}

/// Makes a failure of what a server reports of its self-check.
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
