import Foundation
package import Gateway

/// Limits of clients, and of what the server uses for them.
package struct ServerLimits: Sendable {
  /// Threads that serve sockets: one per processor, up to a limit.
  package var serviceThreads = min(ProcessInfo.processInfo.activeProcessorCount, 4)
  /// Threads that follow lists.
  package var followers = 2
  /// Threads that run queries and read the contents of many rows.
  package var readers = 4
  /// At the sockets. Connections from this machine are limited only if the operator sets a limit, because they may be a
  /// proxy's.
  package var sockets = SocketLimits.ofServer
  /// Subscriptions that one connection may have.
  package var subscriptionLimit = 1_000
  /// Requests of a connection that may wait for their answers; while as many do, no more are read.
  package var waitingRequests = 32
  /// Requests that one address may send a second, messages that all its sessions may send a second, and subscriptions
  /// that it may have; 0 for any number. After a pause, five times as many requests and messages at once. Nil for
  /// 1,000, 5,000 and 20,000, without a limit for this machine.
  package var requestsPerAddress: Int?
  package var messagesPerAddress: Int?
  package var subscriptionsPerAddress: Int?
  /// Memory for what is remembered of followed tables in order to find changed rows, in bytes.
  package var captureMemory = 256 << 20
  /// Memory for changed rows, from which reconnecting readers of the feed resume, in bytes.
  package var changeHistory = 64 << 20
  /// Memory for transactions that clients may repeat, in bytes.
  package var transactionMemory = 16 << 20
  /// The longest that a query may run when it is first asked, and that a client's transaction may take.
  package var queryTimeout = Duration.seconds(30)
  /// How many databases may be open, in a server with several.
  package var openDatabases = 500
  /// How long an unused database stays open.
  package var databaseIdle = Duration.seconds(60)
  /// Runs of queries that take at least so long are logged and counted; zero: none.
  package var slowQuery = Duration.seconds(1)

  package mutating func set(_ limit: LimitSetting, to value: Int) {
    switch limit {
    case .serviceThreads: serviceThreads = min(max(1, value), 64)
    case .followers: followers = min(max(1, value), 63)
    case .readers: readers = min(max(1, value), 64)
    case .messagesPerSecond: sockets.setMessages(perSecond: value)
    case .connectionsPerAddress: (sockets.addressLimit, sockets.limitsLoopback) = (value, true)
    case .requestsPerAddress: requestsPerAddress = value
    case .messagesPerAddress: messagesPerAddress = value
    case .subscriptionsPerAddress: subscriptionsPerAddress = value
    case .headTimeout: sockets.headTimeout = .seconds(value)
    case .bodyTimeout: sockets.bodyTimeout = .seconds(value)
    case .bodyRate: sockets.bodyRate = value
    case .readTimeout: sockets.readTimeout = .seconds(value)
    case .outgoingMemory: sockets.outgoingLimit = value
    case .slowQuery: slowQuery = .milliseconds(value)
    case .transactionMemory: transactionMemory = value
    case .captureMemory: captureMemory = value
    case .changeHistory: changeHistory = value
    case .openDatabases: openDatabases = max(1, value)
    case .databaseIdle: databaseIdle = .seconds(value)
    }
  }
}

extension SocketLimits {
  fileprivate static var ofServer: SocketLimits {
    var limits = SocketLimits()
    limits.setMessages(perSecond: 200)
    limits.addressLimit = 1_000
    limits.readTimeout = .seconds(30)
    limits.outgoingLimit = 256 << 20
    return limits
  }
}
