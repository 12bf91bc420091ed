import Broker
import Controllers
import Following
import LiveQuery
import Logging
import Replication
import Store
import Synchronization
import Wire

/// A server's part in the replication of its file: it publishes the file, or makes it.
///
/// Everything in it is constant after `init`, or guards itself.
final class ServerReplication: Sendable {
  enum Part: Sendable {
    case publisher(Publisher, WriterService)
    case replica(Replica, ReplicaService)
  }

  let part: Part
  private let longestLag: Int
  private let mustEnd: @Sendable (String) -> Void

  /// - Parameter replica: of a replica's server.
  /// - Returns: nil where nothing is replicated.
  /// - Parameter mustEnd: called with the reason when the server cannot continue.
  init?(
    _ settings: ReplicationSettings?, _ replica: Replica?, _ pool: ControllerPool,
    _ transactions: (any ClientTransactions)?, _ kept: PublisherState?, mustEnd: (@Sendable (String) -> Void)?,
    logger: Logger
  ) throws {
    guard let settings else { return nil }
    longestLag = settings.longestLag
    self.mustEnd = { reason in
      logger.critical("\(reason)")
      mustEnd?(reason)
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
