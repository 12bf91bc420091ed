internal import CGateway

/// Names what frames are sent to: a WebSocket connection of a gateway, or the stream that answers a request; never used
/// twice.
///
/// Its slot is a small number that no two channels of a service thread have at a time.
package struct ChannelID: Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A name that no channel has.
  package static let none = ChannelID(rawValue: .max)

  package var isStream: Bool { gateway_channel_is_stream(rawValue) }
}

/// Names one HTTP request to a gateway; never used twice.
package struct RequestID: Hashable, Sendable {
  package let rawValue: UInt64
}
