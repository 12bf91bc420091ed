import Foundation

/// Limits of clients, and of what the server uses for them.
package struct ServerLimits: Sendable {
  /// Threads that serve sockets: as many as there are processors, but for those of a large machine.
  package var serviceThreads = min(ProcessInfo.processInfo.activeProcessorCount, 4)
  /// Threads that follow lists.
  package var followers = 2
  /// Threads that run queries and read the contents of many rows.
  package var readers = 4
  /// Subscriptions that one connection may have.
  package var subscriptionLimit = 1_000
  /// Messages that a connection may send a second, and five times as many at once after a pause; 0 for any number. More are
  /// read no faster than that.
  package var messagesPerSecond = 200
  /// Requests of a connection that may wait for their answers; while as many do, no more are read.
  package var waitingRequests = 32
  /// Connections that one IPv4 address or IPv6 /64 may have; 0 for any number. Nil for 1,000, this machine's own not counted:
  /// they may be a proxy's.
  package var connectionsPerAddress: Int?
  /// Requests that one address may send a second, messages of all its sessions a second (of both five times as many at once after
  /// a pause), and its subscriptions; 0 for any number. Nil for 1,000, 5,000 and 20,000, this machine's own not counted.
  package var requestsPerAddress: Int?
  package var messagesPerAddress: Int?
  package var subscriptionsPerAddress: Int?
  /// The time in which the head of a request must have come; zero for no limit.
  package var headTimeout = Duration.seconds(10)
  /// The time in which the body of a request must have come; zero for no limit.
  package var bodyTimeout = Duration.seconds(60)
  /// Bytes a second that a body must keep up after its first five seconds; 0 for no limit.
  package var bodyRate = 1_024
  /// The time in which a client must take something of what was sent to it.
  package var readTimeout = Duration.seconds(30)
  /// Bytes that may be on their way to clients; then results are refused until there is room. 0 for any number.
  package var outgoingMemory = 256 << 20
  /// What may be remembered of followed tables to find changed rows, in bytes.
  package var captureMemory = 256 << 20
  /// What is remembered of changed rows for readers of the feed that come back, in bytes.
  package var changeHistory = 64 << 20
  /// What may be remembered of transactions that clients may ask for again, in bytes.
  package var transactionMemory = 16 << 20
  /// The longest message and HTTP body, in bytes.
  package var messageLimit = 1 << 20
  /// The longest that a query may run when it is first asked, and that a client's transaction may take.
  package var queryTimeout = Duration.seconds(30)
  /// Runs of queries that take at least so long are logged and counted; zero: none.
  package var slowQuery = Duration.seconds(1)

  package mutating func set(_ limit: LimitSetting, to value: Int) {
    switch limit {
    case .serviceThreads: serviceThreads = min(max(1, value), 64)
    case .followers: followers = min(max(1, value), 63)
    case .readers: readers = min(max(1, value), 64)
    case .messagesPerSecond: messagesPerSecond = value
    case .connectionsPerAddress: connectionsPerAddress = value
    case .requestsPerAddress: requestsPerAddress = value
    case .messagesPerAddress: messagesPerAddress = value
    case .subscriptionsPerAddress: subscriptionsPerAddress = value
    case .headTimeout: headTimeout = .seconds(value)
    case .bodyTimeout: bodyTimeout = .seconds(value)
    case .bodyRate: bodyRate = value
    case .readTimeout: readTimeout = .seconds(value)
    case .outgoingMemory: outgoingMemory = value
    case .slowQuery: slowQuery = .milliseconds(value)
    case .transactionMemory: transactionMemory = value
    case .captureMemory: captureMemory = value
    case .changeHistory: changeHistory = value
    }
  }
}
