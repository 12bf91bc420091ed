import CSQLite
import LiveQuery
import Store

/// The state of the writer's file that a replica's file shows. The replication writes the position in the same
/// transaction as the rows.
package struct ReplicaPosition: Equatable, Sendable {
  /// The writer's epoch, as `hello` names it.
  package let epoch: String
  package let commit: Int64

  init(epoch: String, commit: Int64) {
    self.epoch = epoch
    self.commit = commit
  }

  /// Reads the position of the file at a path; nil if it has no position, or cannot be read now.
  package init?(of path: String) {
    guard let position = try? Connection(path).withRaw({ try ReplicaPositionReader($0).read() }) else { return nil }
    self = position
  }
}

/// Reads the position on one connection.
///
/// Owner: the connection's thread.
final class ReplicaPositionReader {
  private let connection: OpaquePointer
  /// Reads the position; nil while the table is absent.
  private var statement: PreparedStatement?

  init(_ connection: OpaquePointer) { self.connection = connection }

  /// To be called inside a transaction.
  ///
  /// - Throws: `overloaded` if the file has no position, or the error of reading it.
  func read() throws -> ReplicaPosition {
    do throws(SQLiteFailure) {
      let statement = try prepared()
      defer { statement.reset() }
      if try statement.step(), let epoch = statement.text(0) {
        return ReplicaPosition(epoch: epoch, commit: statement.integer(1))
      }
    } catch {
      statement = nil
      // The table is absent or was replaced.
      guard error.primaryCode == SQLITE_ERROR else { throw error }
    }
    throw FreshetError.replicaIsEmpty
  }

  private func prepared() throws(SQLiteFailure) -> PreparedStatement {
    if let statement { return statement }
    let made = try PreparedStatement(connection, #"SELECT epoch, "commit" FROM main._freshet_replica WHERE id = 1"#)
    statement = made
    return made
  }
}

extension FreshetError {
  static let replicaIsEmpty = FreshetError(.overloaded, "this replica has not received its data yet: try again")
}
