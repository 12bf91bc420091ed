import Broker
import Controllers
import Following
import LiveQuery
import Logging
package import Replication
import Store
import Synchronization
import Wire

/// A server's part in the replication of its file: it publishes the file, or makes it.
///
/// Everything in it is constant after `init`, or guards itself.
final class ServerReplication: Sendable {
  private enum Part: Sendable {
    case publisher(Publisher, WriterService)
    case replica(Replica, ReplicaService)
  }

  private let part: Part
  private let longestLag: Int
  private let mustEnd: @Sendable (String) -> Void

  /// - Parameter replica: of a replica's server.
  /// - Returns: nil where nothing is replicated.
  init?(
    _ configuration: ServerConfiguration, _ replica: Replica?, _ pool: ControllerPool,
    _ transactions: (any ClientTransactions)?, _ kept: PublisherState?, logger: Logger
  ) throws {
    guard let settings = configuration.replicationSettings else { return nil }
    longestLag = settings.longestLag
    mustEnd = { reason in
      logger.critical("\(reason)")
      configuration.mustEnd?(reason)
    }
    if let replica {
      part = .replica(replica, ReplicaService(replica))
    } else {
      let publisher = try Publisher(
        pool.file, settings, epoch: pool.file.epochs.current.name, kept: kept, logger: logger,
        renewEpoch: { [weak pool] in pool?.beginEpoch() })
      let front = ReplicasFront(pool, transactions, longestAnswer: publisher.longestMessage)
      part = .publisher(publisher, WriterService(publisher) { front.transact($0, $1) })
    }
  }

  func start() {
    switch part {
    case .publisher(let publisher, let service):
      publisher.start()
      service.start()
    case .replica(let replica, let service):
      replica.start { [mustEnd] in mustEnd("\($0)") }
      service.start()
    }
  }

  func stop() {
    switch part {
    case .publisher(let publisher, let service):
      service.stop()
      publisher.stop()
    case .replica(let replica, let service):
      service.stop()
      replica.stop()
    }
  }

  /// Versions and commits begin anew.
  func beginEpoch(_ epoch: String) {
    if case .publisher(let publisher, _) = part { publisher.beginEpoch(epoch) }
  }

  /// What keeps a replica from being ready; nil: nothing. A publisher is ready whatever becomes of the log.
  var readingFailure: FreshetError? {
    guard case .replica(let replica, _) = part else { return nil }
    let state = replica.state
    guard let lag = state.lag else {
      return FreshetError(.overloaded, "the replica is not up to date yet: \(state.description)")
    }
    if lag <= Int64(longestLag) * 1_000 { return nil }
    return FreshetError(.overloaded, "the replica may be \(lag / 1_000) s behind: \(state.description)")
  }

  func write(to text: inout MetricsText) {
    switch part {
    case .publisher(let publisher, _):
      let state = publisher.state
      text.gauge("freshet_publisher_up", "Whether changes are put into the log: 1 or 0.", state.isPublishing ? 1 : 0)
      text.counter("freshet_publisher_batches_total", "Batches put into the log.", state.batches)
      text.counter("freshet_publisher_bytes_total", "Bytes of batches.", state.bytes)
      text.counter("freshet_publisher_cuts_total", "Batches that were too large for the log.", state.cuts)
      text.counter("freshet_publisher_snapshots_total", "Snapshots sent.", state.snapshots)
    case .replica(let replica, _):
      let state = replica.state
      text.gauge(
        "freshet_replica_lag_seconds", "For how long something may have been missing; -1: since the start.",
        state.lag.map { Double($0) / 1_000 } ?? -1)
      text.gauge(
        "freshet_replica_lag_commits", "Commits known to be missing; -1: not known.", Int(state.missingCommits ?? -1))
      text.counter("freshet_replica_batches_total", "Batches applied.", state.batches)
      text.counter(
        "freshet_replica_self_checks_total", "Parts of tables compared with the writer's file.", state.comparisons)
      text.counter(
        "freshet_replica_divergences_total", "Parts of tables that were not as in the writer's file.", state.divergences
      )
      text.counters(
        "freshet_replica_snapshots_total", "Snapshots loaded, by why.", label: "reason",
        state.loads.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
    }
  }
}

/// Runs what replicas' clients ask to be written.
private struct ReplicasFront: Sendable {
  private let pool: ControllerPool
  private let transactions: (any ClientTransactions)?
  /// In bytes.
  private let longestAnswer: Int

  init(_ pool: ControllerPool, _ transactions: (any ClientTransactions)?, longestAnswer: Int) {
    self.pool = pool
    self.transactions = transactions
    self.longestAnswer = longestAnswer
  }

  func transact(_ request: [UInt8], _ reply: @escaping @Sendable ([UInt8]) -> Void) {
    let answer = { @Sendable [self] (outcome: TransactionMemory.Outcome) in
      var forwarded = ForwardedOutcome(outcome, epoch: pool.file.epochs.current.name)
      var bytes = forwarded.json
      if bytes.count > longestAnswer, case .success(var committed) = outcome {
        // As for a repeated one: it is committed, and its rows are left out.
        committed.results = nil
        forwarded.outcome = .success(committed)
        bytes = forwarded.json
      }
      reply(bytes)
    }
    guard let forwarded = try? ForwardedTransaction(JSONParser.parse(request)) else {
      return answer(
        .failure(
          FreshetError(.badMessage, "the writer's server cannot read the transaction: is it of another version?")))
    }
    guard let transactions else {
      return answer(
        .failure(FreshetError(.notAllowed, "the writer's server is read-only; start it with --allow-writes")))
    }
    transactions.transact(forwarded.transaction, as: forwarded.write, once: forwarded.key, seenBy: pool, reply: answer)
  }
}

/// Tells who has to know that versions and commits begin anew. Any thread.
final class EpochFollowers: Sendable {
  private let other: (@Sendable (String) -> Void)?
  private let replication = Mutex<(told: String?, part: ServerReplication?)>((nil, nil))

  init(_ other: (@Sendable (String) -> Void)?) { self.other = other }

  func tell(_ epoch: String) {
    replication.withLock { state in
      state.told = epoch
      state.part?.beginEpoch(epoch)
    }
    other?(epoch)
  }

  /// A server that starts with the first epoch, whatever was announced since.
  func add(_ part: ServerReplication?) {
    replication.withLock { state in
      state.part = part
      if let told = state.told { part?.beginEpoch(told) }
    }
  }
}

extension ServerConfiguration {
  /// What makes the file; nil where nothing does.
  func replica(logger: Logger) throws -> Replica? {
    guard let settings = replicationSettings, settings.role == .replica else { return nil }
    return try Replica(database, settings, logger: logger)
  }

  fileprivate var replicationSettings: ReplicationSettings? {
    var settings = replication
    settings?.selfCheck = selfCheck
    return settings
  }

  /// - Parameter broker: of a replica, whose clients' transactions are run elsewhere.
  /// - Returns: nil where clients write nothing.
  func transactions(
    _ audit: AuditLog?, forwardingTo broker: BrokerConnection?, _ kept: KeptTransactions?, _ epochs: FileEpochs,
    _ users: FileUsers
  ) throws(FreshetError) -> (any ClientTransactions)? {
    guard needsWriter else { return nil }
    if let broker { return ForwardedTransactions(broker, self) }
    return try TransactionQueue(self, audit, kept, epochs, users)
  }

  /// Takes over how the file is replicated.
  package mutating func set(_ replication: ReplicationSettings) {
    self.replication = replication
    sharesEpochs = true
    readsPosition = replication.role == .replica
  }
}
