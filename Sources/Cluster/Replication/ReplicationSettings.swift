package import Broker
package import Following

/// How a file is replicated, or each file of a folder.
package struct ReplicationSettings: Sendable {
  package enum Role: String, Sendable {
    /// Serves the file that programs write to, and publishes its changes.
    case publisher
    /// Serves a copy.
    case replica
  }

  package var role: Role
  package var address: BrokerAddress
  /// The name of the file in a folder whose files share the address; nil: the address has a single file.
  package var database: String?
  package var credentials = BrokerCredentials()
  /// Servers of the broker's cluster that each keep a copy of the streams.
  package var replicas = 1
  /// The most that the log of a file keeps: bytes, and seconds.
  package var retainedBytes: Int?
  package var retainedSeconds = 86_400
  /// Seconds after which a new snapshot is made for replicas that start later; zero: only when a replica asks.
  package var snapshotInterval = 3_600
  /// Seconds of lag beyond which a replica is not ready.
  package var longestLag = 10
  /// Bytes of a batch beyond which replicas take a snapshot instead.
  package var batchLimit = 64 << 20
  /// When the log gets digests of rows, and whether a replica compares its rows with them.
  package var selfCheck = SelfCheckMode.idle

  package init(_ role: Role, _ address: BrokerAddress) {
    self.role = role
    self.address = address
  }

  /// The bytes that the log may keep, which brokers reserve.
  var keptBytes: Int { retainedBytes ?? (database == nil ? 1 << 30 : 16 << 20) }

  /// The names of the file's log.
  package var subjects: LogSubjects {
    database.map { LogSubjects(address, database: $0) } ?? LogSubjects(address)
  }
}
