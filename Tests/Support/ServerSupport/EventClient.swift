package import TestSupport
package import Wire

/// One event of a stream, as it came.
package struct ServerEvent: Equatable {
  package var event = ""
  package var id: String?
  package var data = ""

  package func json() throws -> JSONValue { try JSONParser.parse(data) }
}

/// A client of `/v1/subscriptions` with a model of the result.
package final class EventClient {
  package let socket: RawSocket
  package let head: RawResponse
  package private(set) var model = ClientModel()
  /// The `Last-Event-ID` that a browser would send.
  package private(set) var lastEventID = ""
  /// Events that changed the model.
  package private(set) var changes: [ServerEvent] = []
  private var text = ""
  package private(set) var comments = 0

  /// - Parameter model: the model of another stream, to be resumed by `Last-Event-ID`.
  package init(
    port: Int, _ target: String, headers: [String] = [], receiveBuffer: Int32? = nil, model: ClientModel = ClientModel()
  ) throws {
    self.model = model
    socket = try RawSocket(port: port, receiveBuffer: receiveBuffer)
    head = try socket.request("GET", target, headers: headers)
  }

  /// The next event; nil at the end of the stream. Events of the list are applied to the model.
  @discardableResult
  package func next() throws -> ServerEvent? {
    while true {
      while let end = text.firstRange(of: "\n\n") {
        let block = text[..<end.lowerBound]
        text.removeSubrange(..<end.upperBound)
        if let event = try take(block) { return event }
      }
      let chunk = try socket.readChunk()
      if chunk.isEmpty { return nil }
      text += String(decoding: chunk, as: UTF8.self)
    }
  }

  private func take(_ block: Substring) throws -> ServerEvent? {
    var event = ServerEvent()
    for line in block.split(separator: "\n") {
      if line.hasPrefix(":") { comments += 1 }
      if line.hasPrefix("event: ") { event.event = String(line.dropFirst(7)) }
      if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
      if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
    }
    if event.event.isEmpty { return nil }
    if let id = event.id { lastEventID = id }
    try DescribedAnswers.check(try event.json())
    guard event.event != "error" else { return event }
    changes.append(event)
    if !["changes", "gap"].contains(event.event) { try model.apply(try event.json()) }
    return event
  }

  /// Returns when the whole snapshot has come.
  package func load() throws {
    repeat {
      guard try next() != nil else { throw RawSocket.Failure(description: "the stream ended") }
    } while !model.isComplete
  }

  /// The rows that the client must have.
  package var line: String {
    model.visibleRows.map { row in
      row.map { row in model.columns.map { row[$0]?.short ?? "?" }.joined(separator: ",") } ?? "-"
    }.joined(separator: " ")
  }
}
