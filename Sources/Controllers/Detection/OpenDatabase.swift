import ChangeCapture
import LiveQuery
import Store

/// A database file, opened, and what is known of it.
///
/// Owner: the thread of a follower or reader.
struct OpenDatabase {
  var schema = DatabaseSchema.empty
  let connection: DatabaseConnection

  init(path: String, _ settings: ChangeCapture.Settings, clock: MonotonicClock) throws {
    connection = try DatabaseConnection(path: path, location: try ReadOnlyFile.location(path), settings, clock: clock)
  }
}
