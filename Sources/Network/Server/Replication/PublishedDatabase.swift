import Controllers
import Following
import LiveQuery
import Logging
import Replication
import Store
import Synchronization
import Wire

/// Puts a database's changes into its log, and runs the writes of replicas' clients.
final class PublishedDatabase: Sendable {
  private let publisher: Publisher
  private let service: WriterService
  private let front: ReplicasFront

  /// - Parameter kept: the state that the previous process kept.
  init(
    _ part: ServerReplication.Publishing, _ settings: ReplicationSettings, _ pool: ControllerPool,
    _ transactions: (any ClientTransactions)?, _ kept: PublisherState?, logger: Logger
  ) {
    publisher = Publisher(
      pool.file, settings, part.broker, epoch: pool.file.epochs.current.name, kept: kept, logger: logger,
      renewEpoch: { [weak pool] in pool?.beginEpoch() })
    service = part.service
    front = ReplicasFront(pool, transactions, longestAnswer: publisher.longestMessage)
  }

  func start() {
    publisher.start()
    service.add(publisher) { [front] in front.transact($0, $1) }
  }

  func stop() {
    service.remove(publisher)
    publisher.stop()
  }

  var isPublishing: Bool { publisher.state.isPublishing }
  var isBeginning: Bool { publisher.state.position == nil && publisher.state.description == "starting" }

  /// Begins an epoch: versions and commits begin anew.
  func beginEpoch(_ epoch: String) { publisher.beginEpoch(epoch) }
}

/// Runs the transactions of replicas' clients.
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
        // As for a repeated transaction: it is committed, and only its rows are left out.
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

/// Passes a new epoch on, to the publisher and to another receiver: versions and commits begin anew. Any thread.
final class EpochFollowers: Sendable {
  private let other: (@Sendable (String) -> Void)?
  private let published = Mutex<(told: String?, database: PublishedDatabase?)>((nil, nil))

  init(_ other: (@Sendable (String) -> Void)?) { self.other = other }

  func tell(_ epoch: String) {
    published.withLock { state in
      state.told = epoch
      state.database?.beginEpoch(epoch)
    }
    other?(epoch)
  }

  /// A database that is added later begins with the newest epoch that was announced.
  func add(_ database: PublishedDatabase?) {
    published.withLock { state in
      state.database = database
      if let told = state.told { database?.beginEpoch(told) }
    }
  }
}
