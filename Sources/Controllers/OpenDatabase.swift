import LiveQuery
import Store

/// A worker's database file, opened, and what is known of it.
///
/// Owner: the worker's thread.
struct OpenDatabase {
  // In this order they are given up: the checker and the log before the connection.
  let checker: FragmentChecker
  /// Nil while the database is not tracked.
  var log: ChangeLogReader?
  /// Up to where the log was followed.
  var sequence: Int64 = 0
  var schemaVersion: Int64 = -1
  var schema = DatabaseSchema.empty
  let connection: WorkerConnection

  init(path: String) throws {
    let location = try ReadOnlyFile.location(path)
    connection = try WorkerConnection(path: path, location: location)
    checker = try FragmentChecker(path: location)
  }
}
