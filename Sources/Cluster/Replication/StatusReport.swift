package import Broker

/// All servers that take part in the log of a file or folder and answer, and the broker's state of a file's log.
package struct StatusReport: Encodable, Sendable {
  package struct Log: Encodable, Sendable {
    package let messages: UInt64
    package let bytes: UInt64
    package let first: UInt64
    package let last: UInt64
  }

  package struct Snapshot: Encodable, Sendable {
    package let batch: Int64
    package let bytes: Int
    /// In milliseconds since 1970.
    package let time: Int64
  }

  /// The writer's first.
  package private(set) var servers: [ServerStatus] = []
  package private(set) var log: Log?
  package private(set) var snapshot: Snapshot?

  /// Asks the servers and the broker.
  ///
  /// - Parameter wait: how long to wait for answers, in milliseconds.
  /// - Throws: when the broker cannot be reached.
  package init(of broker: BrokerConnection, wait: Int) throws(BrokerError) {
    for _ in 0..<max(1, wait / 10) where !broker.isConnected { pause(milliseconds: 10) }
    if !broker.isConnected { throw BrokerError(.unavailable, broker.trouble) }
    let subjects = LogSubjects(broker.address)
    let all = LogSubjects.ofAll(broker.address)
    var answers: [BrokerSubscription] = []
    for subject in [
      subjects.writer(.status), subjects.replicas(.status), all.writer(.status), all.replicas(.status),
    ] { answers.append(try broker.ask([], of: subject)) }
    let end = wallClockMilliseconds() + Int64(wait)
    while wallClockMilliseconds() < end {
      for answer in answers {
        var isFirst = true
        while isFirst || answer.hasMore, let message = try? answer.next(timeout: 20) {
          isFirst = false
          if let status = ServerStatus(message.bytes) { servers.append(status) }
        }
      }
    }
    servers.sort {
      ($0.role, $0.host, $0.name ?? "", $0.database) < ($1.role, $1.host, $1.name ?? "", $1.database)
    }
    if let state = try? broker.state(ofStream: subjects.log) {
      log = Log(messages: state.messages, bytes: state.bytes, first: state.first, last: state.last)
    }
    if let index = try SnapshotIndex.newest(in: broker, subjects) {
      snapshot = Snapshot(batch: index.position.number, bytes: index.bytes, time: index.time)
    }
  }

  /// Whether a server publishes every file, and no replica lags.
  ///
  /// - Parameter lag: in seconds.
  package func isWell(lag: Int) -> Bool {
    let publishers = servers.filter { $0.role == ReplicationSettings.Role.publisher.rawValue }
    return !publishers.isEmpty
      && Dictionary(grouping: publishers, by: \.name).values.allSatisfy { $0.contains { $0.state == "publishing" } }
      && servers.filter { $0.role == ReplicationSettings.Role.replica.rawValue }
        .allSatisfy { $0.lag.map { $0 <= Int64(lag) * 1_000 } ?? false }
  }
}
