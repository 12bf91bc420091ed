import Controllers
import Dispatch
import LiveQuery
import Store
import Synchronization
import Wire

/// The third domain: one connection that writes for clients, one transaction after the other.
///
/// A transaction is answered once a worker has seen it, with the number that the worker gives the state it leads to: what
/// subscriptions are told carries the same numbers.
// @unchecked: `writer` is used on `queue` alone.
final class TransactionQueue: @unchecked Sendable {
  private let queue = DispatchQueue(label: "freshet.writer")
  private let writer: Writer
  /// Transactions asked for and not answered yet.
  private let open = DispatchGroup()
  let committed = Atomic<Int>(0)
  let failed = Atomic<Int>(0)
  private let pool: ControllerPool

  init(_ configuration: ServerConfiguration, pool: ControllerPool) throws(FreshetError) {
    writer = try Writer(path: configuration.database, timeout: configuration.queryTimeout.milliseconds)
    self.pool = pool
  }

  /// Runs a transaction after those asked for before it.
  ///
  /// - Parameter reply: called once, on the queue's or a worker's thread.
  func transact(
    _ statements: [SQLStatement],
    reply: @escaping @Sendable (Result<(changes: Int, commit: Int64), FreshetError>) -> Void
  ) {
    open.enter()
    queue.async { [self] in
      let writes = statements.map { (sql: $0.sql, parameters: $0.parameters) }
      do throws(FreshetError) {
        let changes = try writer.transact(writes).changes
        committed.add(1, ordering: .relaxed)
        pool.post(.databaseChanged)
        pool.first.post(
          .commit { [open] commit in
            reply(.success((changes, commit)))
            open.leave()
          })
      } catch {
        failed.add(1, ordering: .relaxed)
        reply(.failure(error))
        open.leave()
      }
    }
  }

  /// Waits until everything asked for so far is done, and for at most `grace` until it is answered.
  func drain(grace: Duration) {
    queue.sync {}
    _ = open.wait(timeout: .now() + .milliseconds(grace.milliseconds))
  }
}

extension ControllerPool {
  /// The worker to ask what is of no query.
  var first: Worker { worker(for: Query(from: "")) }
}
