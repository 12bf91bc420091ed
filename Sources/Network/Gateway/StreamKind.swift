internal import CGateway

/// The kinds of streams: they differ in what is sent after a long silence, and in how they end.
package enum StreamKind: Sendable {
  /// Server-sent events, with comments after a long silence.
  case events
  /// Lines, with empty lines after a long silence.
  case lines
  /// A file: nothing is sent in silence. It is whole only after `Gateway.end` or `finish`. Anything else that ends it
  /// cuts it off, so that its client sees that something is missing.
  case file

  var raw: gateway_stream_kind {
    switch self {
    case .events: GATEWAY_STREAM_EVENTS
    case .lines: GATEWAY_STREAM_LINES
    case .file: GATEWAY_STREAM_FILE
    }
  }
}
