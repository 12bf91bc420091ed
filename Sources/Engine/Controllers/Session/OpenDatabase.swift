package import ChangeCapture
import LiveQuery
package import Store

/// A database file, opened, and what is known of it.
///
/// Owner: the thread that opened it.
package final class OpenDatabase: FileConnection {
  @exclusivity(unchecked) package var schema = DatabaseSchema.empty
  package let connection: DatabaseConnection
  package var file: FileIdentity? { connection.file }
  package var files: WALFiles { connection.files }

  /// For a lock on a file that is not open yet, in milliseconds: who asks meanwhile has to wait as long.
  private static let patience: Int32 = 200

  /// - Parameter readsPosition: whether the file is a replica's.
  package init(
    path: String, _ settings: ChangeCapture.Settings, clock: MonotonicClock, readsPosition: Bool = false
  ) throws {
    let location = try ReadOnlyFile.location(path, patience: Self.patience)
    connection = try DatabaseConnection(
      path: path, location: location, settings, clock: clock, readsPosition: readsPosition)
  }
}

/// A session of one that follows the file.
package typealias DatabaseSession = FileSession<OpenDatabase, any Error>
