import Broker
import Following
import LiveQuery
import Logging
package import Replication
import Store

extension ServerConfiguration {
  /// What makes the file; nil where nothing does.
  func replica(logger: Logger) throws -> Replica? {
    guard let settings = replicationSettings, settings.role == .replica else { return nil }
    return try Replica(database, settings, logger: logger)
  }

  var replicationSettings: ReplicationSettings? {
    var settings = replication
    settings?.selfCheck = lists.selfCheck
    return settings
  }

  /// - Parameter broker: of a replica, whose clients' transactions are run elsewhere.
  /// - Returns: nil where clients write nothing.
  func transactions(
    _ audit: AuditLog?, forwardingTo broker: BrokerConnection?, _ kept: KeptTransactions?, _ epochs: FileEpochs,
    _ users: FileUsers
  ) throws(FreshetError) -> (any ClientTransactions)? {
    guard needsWriter else { return nil }
    if let broker { return ForwardedTransactions(broker, queryTimeout: limits.queryTimeout) }
    let settings = WriterSettings(
      database: database, timeout: limits.queryTimeout, memory: limits.transactionMemory,
      grace: ending.transactionGrace, clock: clocks.monotonic)
    return try TransactionQueue(settings, audit, kept, epochs, users)
  }

  /// Takes over how the file is replicated.
  package mutating func set(_ replication: ReplicationSettings) {
    self.replication = replication
    state.sharesEpochs = true
    state.readsPosition = replication.role == .replica
  }
}

extension Doors {
  /// - Parameter rule: the number of the rule whose access `configuration` has; 0: none.
  convenience init(_ configuration: ServerConfiguration, rule: Int = 0) {
    self.init(
      configuration.access, everyone: configuration.ownSQLOfEveryone,
      namesRoles: configuration.authentication != nil || !configuration.access.roles.isEmpty, rule: rule)
  }
}

extension FrontDoor {
  convenience init(_ configuration: ServerConfiguration, logger: Logger) {
    self.init(
      OriginPolicy(
        allowed: configuration.pages.allowedOrigins, hosts: configuration.pages.allowedHosts,
        isLoopback: configuration.listening.isLoopback), logger: logger)
  }
}
