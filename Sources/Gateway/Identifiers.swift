/// Names one WebSocket connection of a gateway; never used twice. Below 2^63.
package struct SessionID: Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}

/// Names one HTTP request to a gateway, and the stream that answers it; never used twice. Below 2^63.
package struct RequestID: Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}
