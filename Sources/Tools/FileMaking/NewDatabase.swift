package import Store

/// A database file that appears at its path whole or not at all.
///
/// It is made next to it under another name, written through to the disk, and then renamed: whatever ends the process
/// before, nothing is there, and what is left of the other name is removed by the next process that makes the same
/// file.
package enum NewDatabase {
  /// Makes the file, in WAL mode, with its directory if need be.
  ///
  /// - Parameter fill: writes the contents, in one transaction.
  /// - Throws: `FileMakingError` (`exists`: it never replaces a file), what SQLite and `fill` throw.
  package static func create(at path: String, _ fill: (Connection) throws -> Void) throws {
    let unfinished = try UnfinishedFile(for: path)
    defer { unfinished.discard() }
    // Nothing else has this name, so closing may checkpoint whatever the version of SQLite (docs/wal-reset.md), and has
    // to: it is the file alone that gets its name.
    try make(unfinished.path, fill)
    try unfinished.publish()
  }

  /// Closes the file before it returns.
  private static func make(_ path: String, _ fill: (Connection) throws -> Void) throws {
    let connection = try Connection(path, .making, isPrivate: true)
    // Nothing to roll back to: an unfinished file is thrown away.
    try connection.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
    try connection.transaction { try fill(connection) }
    try connection.run("PRAGMA journal_mode = WAL")
  }
}
