import LiveQuery

/// The changes of commits in the tables that a client requested: protocol 4.1.
package enum ChangesMessage: Sendable {
  /// The position after which the client gets changes.
  case position(String)
  /// - Parameter members: the members as JSON, `position` included.
  case changes(position: String, members: [UInt8])
  /// Changes before the position are unknown.
  case gap(position: String, reason: String)

  package var position: String {
    switch self {
    case .position(let position), .changes(let position, _), .gap(let position, _): position
    }
  }

  var type: StaticString { if case .gap = self { "gap" } else { "changes" } }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .position(let position): writer.member("position", position)
    case .changes(_, let members): writer.members(encoded: members)
    case .gap(let position, let reason):
      writer.member("position", position)
      writer.member("reason", reason)
    }
  }

}

extension ServerMessage {
  /// Writes the message as a line, for `application/x-ndjson`.
  package func writeLine(to writer: inout JSONWriter) {
    write(to: &writer, id: nil, .objects)
    writer.append("\n")
  }
}

extension JSONWriter {
  /// A name as JSON, with its quotes and colon.
  package static func encodedName(_ name: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.name(escaping: name)
    return writer.bytes
  }
}
