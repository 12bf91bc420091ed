import GRDBSQLite
import LiveQuery
import Store

/// Which state of the writer's file a replica's file shows. The file itself says so: whoever brings rows into it writes the
/// position in the same transaction.
package struct ReplicaPosition: Equatable, Sendable {
  /// The writer's: what `hello.epoch` says.
  package let epoch: String
  package let commit: Int64

  package init(epoch: String, commit: Int64) {
    self.epoch = epoch
    self.commit = commit
  }
}

/// Reads the position on one connection.
///
/// Owner: the connection's thread.
final class ReplicaPositionReader {
  private let connection: OpaquePointer
  /// Nil while there is no such table.
  private var statement: PreparedStatement?

  init(_ connection: OpaquePointer) { self.connection = connection }

  /// Inside a transaction.
  ///
  /// - Throws: `overloaded` while the file has no position; what keeps it from being read.
  func read() throws -> ReplicaPosition {
    do throws(SQLiteFailure) {
      let statement = try prepared()
      defer { statement.reset() }
      if try statement.step(), let epoch = statement.text(0) {
        return ReplicaPosition(epoch: epoch, commit: statement.integer(1))
      }
    } catch {
      statement = nil
      // The table is not there, or is another one.
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
