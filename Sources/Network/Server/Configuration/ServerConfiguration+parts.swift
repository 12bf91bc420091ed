import Following
import LiveQuery
import Logging
package import Replication
import Store

extension ServerConfiguration {
  /// The server's part in replication, including the replica if it serves a single file; nil: no replication.
  ///
  /// - Throws: one sentence.
  func replication(_ logger: Logger) throws(ServerError) -> ServerReplication? {
    guard let settings = replicationSettings else { return nil }
    do {
      let replication = try ServerReplication(settings, isFolder: places != nil)
      if places == nil, settings.role == .replica {
        try replication.makeReplica(nil, at: database, logger: logger) { [ending] error in
          logger.critical("\(error)")
          ending.mustEnd?("\(error)")
        }
      }
      return replication
    } catch { throw ServerError("\(error)") }
  }

  var replicationSettings: ReplicationSettings? {
    var settings = replication
    settings?.selfCheck = lists.selfCheck
    return settings
  }

  /// - Parameter replica: the replica that makes the file: its clients' transactions run at the writer's server.
  /// - Returns: nil where clients write nothing.
  func transactions(
    _ audit: AuditLog?, forwardingTo replica: Replica?, _ kept: KeptTransactions?, _ epochs: FileEpochs,
    _ users: FileUsers
  ) throws(FreshetError) -> (any ClientTransactions)? {
    guard needsWriter else { return nil }
    if let replica { return ForwardedTransactions(replica, queryTimeout: limits.queryTimeout) }
    let settings = WriterSettings(
      database: database, timeout: limits.queryTimeout, memory: limits.transactionMemory,
      grace: ending.transactionGrace, clock: clocks.monotonic)
    return try TransactionQueue(settings, audit, kept, epochs, users)
  }

  /// Sets how the file is replicated.
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
