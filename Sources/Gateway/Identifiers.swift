/// Names one WebSocket connection of a gateway; never used twice.
package struct SessionID: Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}

/// Names one HTTP request to a gateway; never used twice.
package struct RequestID: Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}
