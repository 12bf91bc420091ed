import Broker
import Controllers
import Dispatch
import Ground
import LiveQuery
import Replication
import Requests
import Store
import Synchronization
import Wire

/// Runs a replica's clients' transactions at the writer's server, and replies when the replica has them, so that all
/// clients read their own writes.
///
/// This server's configuration decides what a client may write; the writer's server decides whether the transaction
/// succeeds.
final class ForwardedTransactions: ClientTransactions {
  private let broker: BrokerConnection
  private let subject: String
  /// How long the writer may take, in milliseconds.
  private let patience: Int64
  /// How long the replica may take to have what is committed.
  private static let reach = Duration.seconds(10)
  /// Each queue sends one transaction at a time, so at most eight wait for the writer.
  private let queues = (0..<8).map { DispatchQueue(label: "freshet.forward.\($0)") }
  private let next = Atomic<Int>(0)
  private let open = DispatchGroup()
  private let committed = Atomic<Int>(0)
  private let failed = Atomic<Int>(0)
  private let waiting = Atomic<Int>(0)

  /// - Parameter replica: of the file.
  init(_ replica: Replica, queryTimeout: Duration) {
    broker = replica.broker
    subject = replica.settings.subjects.writer(.transact)
    patience = Int64(Nanoseconds(queryTimeout).count / 1_000_000) + 5_000
  }

  func transact(
    _ transaction: Transaction, as write: AuditLog.Write, once key: TransactionMemory.Key?,
    seenBy pool: ControllerPool, reply: @escaping TransactionMemory.Reply
  ) {
    open.enter()
    waiting.add(1, ordering: .relaxed)
    let request = ForwardedTransaction(transaction, as: write, once: key).json
    let number = next.add(1, ordering: .relaxed).newValue
    queues[Int(number.magnitude % UInt(queues.count))].async { [self] in
      waiting.subtract(1, ordering: .relaxed)
      let end = { @Sendable [self] (outcome: TransactionMemory.Outcome) in
        if case .success = outcome { committed.add(1, ordering: .relaxed) } else { failed.add(1, ordering: .relaxed) }
        reply(outcome)
        open.leave()
      }
      do throws(FreshetError) {
        let (outcome, epoch) = try ask(request)
        guard case .success(let committed) = outcome else { return end(outcome) }
        // It is committed, whether this replica has it in time or not.
        pool.whenReached(committed.commit, epoch: epoch, timeout: Self.reach) { _ in end(outcome) }
      } catch { end(.failure(error)) }
    }
  }

  private func ask(_ request: [UInt8]) throws(FreshetError) -> (TransactionMemory.Outcome, epoch: String) {
    if request.count > broker.longestMessage {
      throw FreshetError(
        .tooLarge, "the transaction is longer than the broker between this replica and the writer takes")
    }
    let answer: [UInt8]
    do throws(BrokerError) { answer = try broker.request(request, of: subject, timeout: patience) } catch {
      if error.reason == .noResponder {
        throw FreshetError(
          .overloaded, "the writer's server cannot be reached at the moment: nothing was written")
      }
      throw FreshetError(
        .internal, "the writer's server did not answer: check what was written before you repeat it (\(error.message))")
    }
    guard let forwarded = try? ForwardedOutcome(JSONParser.parse(answer)) else {
      throw FreshetError(.internal, "the writer's server gave an answer that cannot be read")
    }
    return (forwarded.outcome, forwarded.epoch)
  }

  func refuse(
    _ write: AuditLog.Write, _ error: FreshetError, once key: TransactionMemory.Key?,
    reply: @escaping TransactionMemory.Reply
  ) { reply(.failure(error)) }

  func drain(grace: Duration) { _ = open.wait(timeout: .now() + grace) }

  var isWritable: Bool { broker.isConnected }
  /// The writer's server keeps the outcomes.
  var kept: [UInt8]? { nil }

  func epochChanged() {}

  var counts: (committed: Int, failed: Int, waiting: Int) {
    (committed.load(ordering: .relaxed), failed.load(ordering: .relaxed), waiting.load(ordering: .relaxed))
  }
}
