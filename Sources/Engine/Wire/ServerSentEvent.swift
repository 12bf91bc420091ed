package import LiveQuery

// Server-sent events: protocol 4, `/v1/subscriptions` and `/v1/changes`.
extension ServerMessage {
  /// Writes the message as an event. Its data is JSON, which contains no line ends.
  package func writeEvent(to writer: inout JSONWriter, id: String?, _ shape: Shape, members: [UInt8]? = nil) {
    writer.append("event: ")
    writer.append(eventType)
    if let resumeFrom {
      var version = resumeFrom
      writer.append("\nid: ")
      version.withUTF8 { writer.append(UnsafeRawBufferPointer($0)) }
    }
    writer.append("\ndata: ")
    write(to: &writer, id: id, shape, members: members)
    writer.append("\n\n")
  }

  /// Answers to requests that a stream cannot make have no event of their own.
  private var eventType: StaticString {
    switch self {
    case .snapshot, .rows, .patch, .changes, .error: type
    case .located, .unsubscribed, .committed, .pong, .authenticated: "message"
    }
  }

  /// The id that a reconnecting client sends back: the name of a version that it has completely; "" if it has no
  /// version; nil to keep the previous id.
  private var resumeFrom: String? {
    switch self {
    case .snapshot(let snapshot): snapshot.isComplete ? snapshot.version : ""
    case .rows(let rows): rows.isComplete ? rows.version : ""
    case .patch(let patch): patch.to
    case .changes(let message): message.position
    default: nil
    }
  }
}
