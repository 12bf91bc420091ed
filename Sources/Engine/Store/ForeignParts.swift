import CSQLite
package import LiveQuery
import Synchronization

/// Extensions and stand-ins that the operator names, for files of applications that have their own collations,
/// tokenizers and functions.
///
/// They must be added before the first connection is opened. Mutable state: `standIns`, guarded by its lock.
package enum ForeignParts {
  /// For each collation with a stand-in, by lower-case name, the collation that replaces it.
  private static let standIns = Mutex<[String: FieldOrder.Collation]>([:])

  /// Replaces a collation by one of SQLite's. Order and search may differ from the application's. Connections that
  /// write do not have stand-ins.
  package static func add(collation name: String, as base: FieldOrder.Collation) throws(FreshetError) {
    let kind =
      switch base {
      case .binary: SQLITE_COLLATION_BINARY
      case .nocase: SQLITE_COLLATION_NOCASE
      case .rtrim: SQLITE_COLLATION_RTRIM
      }
    try check(sqlite_add_collation(name, kind))
    standIns.withLock { $0[name.lowercased()] = base }
  }

  /// Has FTS5 split text into words by another tokenizer, without arguments. A search does not find rows that only the
  /// application's tokenizer would find.
  package static func add(tokenizer name: String, as base: String) throws(FreshetError) {
    try check(sqlite_add_tokenizer(name, base))
  }

  /// Loads a library into each connection.
  ///
  /// - Parameter entry: the library's entry point; nil for the one that SQLite derives from the file's name.
  package static func add(extension path: String, entry: String? = nil) throws(FreshetError) {
    try check(sqlite_add_extension(path, entry))
    // The library is loaded once here, so that errors are reported now and not by each connection.
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    let code = sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE, nil)
    if code != SQLITE_OK {
      throw FreshetError(.internal, "extension \(path): \(SQLiteFailure(of: connection, code).message)")
    }
  }

  private static func check(_ code: Int32) throws(FreshetError) {
    if code != SQLITE_OK { throw FreshetError(.internal, "SQLite error \(code)") }
  }

  /// The collation that stands in for one of the application; nil if it has no stand-in.
  package static func collation(_ name: String) -> FieldOrder.Collation? { standIns.withLock { $0[name.lowercased()] } }
}
