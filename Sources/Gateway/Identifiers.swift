/// Names what frames are sent to: a WebSocket connection of a gateway, or the stream that answers a request; never used twice.
package struct ChannelID: Hashable, Sendable {
  package let rawValue: UInt64

  private static let streamMark: UInt64 = 1 << 63

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The stream that answers a request.
  package static func stream(_ request: RequestID) -> ChannelID { ChannelID(rawValue: request.rawValue | streamMark) }

  package var isStream: Bool { rawValue & ChannelID.streamMark != 0 }

  /// Of a stream, the request that it answers.
  package var request: RequestID { RequestID(rawValue: rawValue & ~ChannelID.streamMark) }
}

/// Names one HTTP request to a gateway; never used twice. Below 2^63.
package struct RequestID: Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}
