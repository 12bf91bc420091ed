import CSQLite
import Foundation
import Store

/// Copies whole databases, by SQLite's backup.
enum SnapshotCopy {
  /// Copies the state that a connection's transaction sees into a new file.
  static func copy(_ source: OpaquePointer, toFile path: String) throws {
    removeDatabase(path)
    let file = try Connection(path, .making, isPrivate: true)
    // A copy that is lost in a crash is made again, so it need not be durable.
    try file.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    try file.withRaw { try Connection.copy(source, into: $0) }
  }

  /// Deletes a database and what belongs to it.
  static func removeDatabase(_ path: String) {
    for name in [path, path + "-wal", path + "-shm", path + "-journal"] { unlink(name) }
  }
}
