import CSQLite
package import LiveQuery
import Synchronization

/// Extensions and stand-ins from the operator, to read files whose application has collations, tokenizers and functions
/// of its own.
///
/// To be set before the first connection is opened. Mutable state: `standIns`, guarded by its lock.
package enum ForeignParts {
  /// By lower-case name of a collation, the one that stands in.
  private static let standIns = Mutex<[String: FieldOrder.Collation]>([:])

  /// Compares by another collation. Order and search may differ from the application's; connections that write do not
  /// have it.
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

  /// Has FTS5 cut words by another tokenizer, without arguments. Rows that only the application's tokenizer would find
  /// are not found.
  package static func add(tokenizer name: String, as base: String) throws(FreshetError) {
    try check(sqlite_add_tokenizer(name, base))
  }

  /// Loads a library into each connection.
  ///
  /// - Parameter entry: its entry point; nil for the one that SQLite finds by the file's name.
  package static func add(extension path: String, entry: String? = nil) throws(FreshetError) {
    try check(sqlite_add_extension(path, entry))
    // Report errors here once, instead of in each connection.
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

  /// How a collation of the application compares on our connections; nil: it has no stand-in.
  package static func collation(_ name: String) -> FieldOrder.Collation? { standIns.withLock { $0[name.lowercased()] } }
}
