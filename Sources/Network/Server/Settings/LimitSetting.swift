/// A bound that operators may set, by its name in the configuration file.
package enum LimitSetting: String, CaseIterable, Sendable {
  /// Threads.
  case serviceThreads
  /// Threads.
  case followers
  /// Threads.
  case readers
  case messagesPerSecond
  case connectionsPerAddress
  case requestsPerAddress
  case messagesPerAddress
  case subscriptionsPerAddress
  /// Seconds.
  case headTimeout
  /// Seconds.
  case bodyTimeout
  /// Bytes a second.
  case bodyRate
  /// Seconds.
  case readTimeout
  /// Bytes.
  case outgoingMemory
  /// Milliseconds.
  case slowQuery
  /// Bytes.
  case transactionMemory
  /// Bytes.
  case captureMemory
  /// Bytes.
  case changeHistory
  case openDatabases
  /// Seconds.
  case databaseIdle

  /// Settings that each of several databases applies separately.
  package static let ofDatabase: [LimitSetting] = [
    .followers, .slowQuery, .transactionMemory, .captureMemory, .changeHistory,
  ]

  /// The environment variable: `bodyRate` is FRESHET_BODY_RATE.
  package var variable: String {
    rawValue.reduce("FRESHET_") { $0 + ($1.isUppercase ? "_" : "") + $1.uppercased() }
  }

  /// The value of a variable; nil if it is not valid: then `expectation` describes valid values.
  package func parse(_ text: String) -> Int? { isMemory ? ByteCount.parse(text) : Count.parse(text) }

  package var expectation: String { isMemory ? "an amount of memory, such as 256 MiB" : Count.description }

  private var isMemory: Bool { [.outgoingMemory, .transactionMemory, .captureMemory, .changeHistory].contains(self) }
}
