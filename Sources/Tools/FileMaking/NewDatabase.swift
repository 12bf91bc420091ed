package import Store

/// A database file that appears at its path whole or not at all.
///
/// The file is written under a temporary name in the same folder, flushed to the disk, and then renamed. If the process
/// ends before the renaming, nothing is at the path, and the next process that makes the same file removes this one.
package enum NewDatabase {
  /// Makes the file, in WAL mode, with its directory if need be.
  ///
  /// - Parameter fill: writes the contents, in one transaction.
  /// - Throws: `FileMakingError` (`exists`: it never replaces a file), what SQLite and `fill` throw.
  package static func create(at path: String, _ fill: (Connection) throws -> Void) throws {
    let unfinished = try UnfinishedFile(for: path)
    defer { unfinished.discard() }
    // No other process opens this name, so a checkpoint at closing is safe with every version of SQLite
    // (docs/wal-reset.md). It is also needed, because only the file without its -wal gets the final name.
    try make(unfinished.path, fill)
    try unfinished.publish()
  }

  /// Closes the file before it returns.
  private static func make(_ path: String, _ fill: (Connection) throws -> Void) throws {
    let connection = try Connection(path, .making, isPrivate: true)
    // No journal is needed: an unfinished file is deleted.
    try connection.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
    try connection.transaction { try fill(connection) }
    try connection.run("PRAGMA journal_mode = WAL")
  }
}
