package import Broker
package import Following

/// How a file is replicated, or each file of a folder.
package struct ReplicationSettings: Sendable {
  package enum Role: String, Sendable {
    /// Stands next to the writers.
    case publisher
    /// Serves a copy.
    case replica
  }

  package var role: Role
  package var address: BrokerAddress
  /// The name of the file in a folder whose files share the address; nil: it is the address's only one.
  package var database: String?
  package var credentials = BrokerCredentials()
  /// Servers of the broker's cluster that each keep a copy of the streams.
  package var replicas = 1
  /// The most that the log of a file keeps: bytes, and seconds.
  package var retainedBytes: Int?
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

  /// Brokers set aside what a log may keep.
  var keptBytes: Int { retainedBytes ?? (database == nil ? 1 << 30 : 16 << 20) }

  /// The names of the file's log.
  package var subjects: LogSubjects {
    database.map { LogSubjects(address, database: $0) } ?? LogSubjects(address)
  }
}
