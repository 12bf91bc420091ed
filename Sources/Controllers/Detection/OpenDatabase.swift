import ChangeCapture
import LiveQuery
import QueryCompiler
import Store

/// A follower's database file, opened, and what is known of it.
///
/// Owner: the follower's thread.
struct OpenDatabase {
  // In this order they are given up: the checker before the connection.
  let checker: FragmentChecker
  var schema = DatabaseSchema.empty
  let connection: DatabaseConnection

  init(path: String, _ settings: ChangeCapture.Settings, clock: MonotonicClock) throws {
    let location = try ReadOnlyFile.location(path)
    connection = try DatabaseConnection(path: path, location: location, settings, clock: clock)
    checker = try FragmentChecker(path: location)
  }
}
