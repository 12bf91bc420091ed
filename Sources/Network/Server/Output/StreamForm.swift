import Gateway
import LiveQuery
import Wire

/// The contents of a stream over HTTP.
enum StreamForm: Hashable, Sendable {
  /// Server-sent events.
  case events
  /// A JSON text on each line.
  case lines
  /// The rows of one snapshot, as a file.
  case table(TableFormat)

  private static let all = [events, lines] + TableFormat.allCases.map { table($0) }

  /// - Parameter id: a subscription's; a client may give one of its own the same.
  init?(id: String) {
    guard let form = StreamForm.all.first(where: { $0.id == id }) else { return nil }
    self = form
  }

  /// The id of the only subscription of such a stream.
  var id: String {
    switch self {
    case .events: "sse"
    case .lines: "ndjson"
    case .table(.csv): "table.csv"
    case .table(.ndjson): "table.ndjson"
    }
  }

  var kind: StreamKind {
    switch self {
    case .events: .events
    case .lines: .lines
    case .table: .file
    }
  }

  var contentType: String {
    switch self {
    case .events: "text/event-stream"
    case .lines: "application/x-ndjson"
    case .table(let format): format.contentType
    }
  }

  /// - Parameter members: what `ServerMessage.members` returned, when several get them.
  /// - Returns: nil for what this form does not tell.
  func frame(_ message: ServerMessage, _ shape: Shape = .arrays, members: [UInt8]? = nil) -> Frame? {
    switch self {
    case .events:
      Frame(reserving: message.likelyLength) { message.writeEvent(to: &$0, id: id, shape, members: members) }
    case .lines: Frame(reserving: message.likelyLength) { message.writeLine(to: &$0) }
    case .table(let format):
      switch message {
      case .snapshot, .rows: Frame(reserving: message.likelyLength) { message.writeTable(format, to: &$0) }
      default: nil
      }
    }
  }
}
