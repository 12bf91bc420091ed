package import Broker
package import Following

/// How a file is replicated.
package struct ReplicationSettings: Sendable {
  package enum Role: String, Sendable {
    /// Beside those who write.
    case publisher
    /// Serves a copy.
    case replica
  }

  package var role: Role
  package var address: BrokerAddress
  package var credentials = BrokerCredentials()
  /// Servers of the broker's cluster that each keep a copy of the streams.
  package var replicas = 1
  /// What the log keeps at most: bytes, and seconds.
  package var retainedBytes = 1 << 30
  package var retainedSeconds = 86_400
  /// After how many seconds a snapshot is made anew, for replicas to come; zero: only when one asks.
  package var snapshotInterval = 3_600
  /// A replica that is behind by more than so many seconds is not ready.
  package var longestLag = 10
  /// Bytes of a batch beyond which replicas take a snapshot instead.
  package var batchLimit = 64 << 20
  /// How much the log says of what rows are, and how much of that a replica compares its own with.
  package var selfCheck = SelfCheckMode.idle

  package init(_ role: Role, _ address: BrokerAddress) {
    self.role = role
    self.address = address
  }
}
