package import TestSupport
package import Wire

/// A WebSocket client with a model for each of its subscriptions.
package final class LiveClient {
  package let socket: RawWebSocket
  package private(set) var models: [String: ClientModel] = [:]
  /// Messages other than those that change a model, oldest first.
  package var others: [JSONValue] = []
  /// How many messages changed each model.
  package private(set) var changes: [String: Int] = [:]
  /// The last message that changed each model, for messages of failures.
  package private(set) var last: [String: JSONValue] = [:]
  /// The last error of each subscription.
  package private(set) var errors: [String: JSONValue] = [:]
  /// The epoch of the last `hello`.
  package private(set) var epoch = ""
  /// The epoch in which each model was last changed.
  package private(set) var epochs: [String: String] = [:]
  /// The code of the last error that did not end a subscription, until its next message.
  package private(set) var delays: [String: String] = [:]
  /// The code of the error that ended a subscription.
  package private(set) var ended: [String: String] = [:]

  /// - Parameter receiveBuffer: makes the kernel take little that the client does not read.
  package init(port: Int, receiveBuffer: Int32? = nil, path: String = "/v1/live", headers: [String] = []) throws {
    socket = try RawWebSocket(port: port, path: path, headers: headers, receiveBuffer: receiveBuffer)
    let hello = try receive()
    guard hello["type"] == .string("hello") else { throw ClientModel.Violation(description: "no hello: \(hello)") }
  }

  package func send(_ text: String) throws { try socket.send(text) }

  /// The longest wait for a frame that is not a ping.
  private static let patience = Duration.seconds(60)

  /// The next frame that is not a ping. Pings are answered: the server pings silent clients, and closes those that do
  /// not answer.
  package func readFrame() throws -> RawWebSocket.Frame {
    let end = ContinuousClock.now + Self.patience
    while true {
      let frame = try socket.readFrame()
      if frame.opcode != .ping { return frame }
      try? socket.send(.pong, frame.payload)
      if ContinuousClock.now > end { throw RawSocket.Failure(description: "nothing came in time but pings") }
    }
  }

  /// The next message. Messages of a list are applied to its model.
  @discardableResult
  package func receive() throws -> JSONValue {
    while true {
      let frame = try readFrame()
      guard frame.opcode == .text else {
        throw ClientModel.Violation(description: "a frame that is not text: \(frame.opcode)")
      }
      let message = try JSONParser.parse(frame.payload)
      try DescribedAnswers.check(message)
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
            delays[id] = nil
          } else {
            others.append(message)
          }
          return message
        }
        if type == "error" { errors[id] = message }
        if type == "error", message["fatal"] == .bool(true) {
          ended[id] = try message.required("code").text()
          models[id] = nil
        } else if type == "error" {
          delays[id] = try message.required("code").text()
        }
      }
      others.append(message)
      return message
    }
  }

  /// Returns when the whole snapshot is there, or an error.
  ///
  /// - Parameter more: further members, such as `"shape":"objects"`.
  package func subscribe(
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

  /// Resumes with the model of another connection. Returns when the answer has come, a patch or the whole snapshot.
  package func resume(_ id: String, _ query: String, _ model: ClientModel, more: String = "") throws {
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

  /// Receives messages until a condition holds.
  ///
  /// - Returns: whether it does in time.
  package func receive(within time: Duration = .seconds(20), until isDone: () throws -> Bool) throws -> Bool {
    try comesTrue(within: time) {
      if try isDone() { return true }
      try send(#"{"type":"ping","id":"p"}"#)
      while try receive()["type"] != .string("pong") {}
      return try isDone()
    }
  }

  /// Returns when everything that another process committed before the call has arrived: the answer to a `fetch` comes
  /// after the patch that leads to the state it was read from. An error counts as an answer too.
  package func catchUp(_ ids: [String]) throws {
    for id in ids where ended[id] == nil {
      try send("{\"type\":\"fetch\",\"id\":\"\(id)\",\"offset\":0,\"limit\":0}")
      while true {
        let message = try receive()
        if message["type"] == .string("rows"), message["id"] == .string(id), message["window"] == nil { break }
        if message["type"] == .string("error"), message["id"] == .string(id) { break }
        if ended[id] != nil { break }
      }
    }
  }

  /// The next message of a type. Other messages are kept in `others`.
  package func receive(_ type: String) throws -> JSONValue {
    if let index = others.firstIndex(where: { $0["type"] == .string(type) }) { return others.remove(at: index) }
    while true {
      let message = try receive()
      guard message["type"] == .string(type) else { continue }
      if others.last == message { others.removeLast() }
      return message
    }
  }
}
