import Dispatch
import LiveQuery
import Store
import Wire

/// The third domain: one connection that writes for clients, one transaction after the other.
// @unchecked: `writer` is used on `queue` alone.
final class TransactionQueue: @unchecked Sendable {
  private let queue = DispatchQueue(label: "freshet.writer")
  private let writer: Writer

  init(_ configuration: ServerConfiguration) throws(FreshetError) {
    writer = try Writer(path: configuration.database, timeout: configuration.queryTimeout.milliseconds)
  }

  /// Runs a transaction after those asked for before it; `reply` is called on the queue.
  func transact(
    _ statements: [SQLStatement],
    reply: @escaping @Sendable (Result<(changes: Int, commit: Int64), FreshetError>) -> Void
  ) {
    queue.async {
      let writes = statements.map { (sql: $0.sql, parameters: $0.parameters) }
      do throws(FreshetError) {
        reply(.success(try self.writer.transact(writes)))
      } catch { reply(.failure(error)) }
    }
  }

  /// Waits until everything asked for so far is done.
  func drain() { queue.sync {} }
}
