import Controllers
import LiveQuery
import Requests

/// Runs clients' transactions: in this server's file, or, at a replica, in the writer's.
protocol ClientTransactions: AnyObject, Sendable {
  /// Runs a transaction, and replies once lists show it. The reply comes on any thread, or at once.
  ///
  /// - Parameter key: the client's name for it; nil: it always runs.
  func transact(
    _ transaction: Transaction, as write: AuditLog.Write, once key: TransactionMemory.Key?,
    seenBy pool: ControllerPool, reply: @escaping TransactionMemory.Reply)

  /// Records that a client's write was refused before it began.
  ///
  /// - Parameter reply: it gets the error, or the earlier outcome of the same transaction.
  func refuse(
    _ write: AuditLog.Write, _ error: FreshetError, once key: TransactionMemory.Key?,
    reply: @escaping TransactionMemory.Reply)

  /// Waits until everything asked for so far is done, and for at most `grace` until it is answered.
  func drain(grace: Duration)

  /// Whether a transaction would be accepted, as far as is known without writing. Any thread; may read the disk.
  var isWritable: Bool { get }

  /// The file was replaced. Any thread.
  func epochChanged()

  /// The state of repeatable transactions for the next process; nil: not all of it is known.
  var kept: [UInt8]? { get }

  /// Transactions committed and failed since the start, and those waiting to begin.
  var counts: (committed: Int, failed: Int, waiting: Int) { get }
}
