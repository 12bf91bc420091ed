import GRDB
import GRDBSQLite
import Store

/// A worker's own read-only connection.
///
/// Owner: the worker's thread.
final class WorkerConnection {
  /// The `sqlite3 *` of `queue`, for the loops that go around GRDB.
  let raw: OpaquePointer
  let encoding: TextEncoding
  private let begin: PreparedStatement
  private let commit: PreparedStatement
  private let dataVersion: PreparedStatement
  private var lastDataVersion: Int64 = -1
  /// Of the first run of a query.
  let deadline: Deadline
  /// Declared last, so that it is closed after the statements above are gone.
  private let queue: DatabaseQueue

  init(path: String) throws {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    configuration.label = "freshet worker"
    queue = try DatabaseQueue(path: path, configuration: configuration)
    (raw, encoding) = try queue.inDatabase { db in
      let name = try String.fetchOne(db, sql: "PRAGMA encoding") ?? ""
      return (db.sqliteConnection!, TextEncoding(rawValue: name) ?? .utf8)
    }
    begin = try PreparedStatement(raw, "BEGIN")
    commit = try PreparedStatement(raw, "COMMIT")
    dataVersion = try PreparedStatement(raw, "PRAGMA data_version")
    // A cap on what a single value may be made to hold by an expression.
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 64 << 20)
    deadline = Deadline(of: raw)
  }

  /// Whether any other connection has committed (or checkpointed) since the last call. Outside transactions only.
  func hasChanged() throws -> Bool {
    defer { dataVersion.reset() }
    guard try dataVersion.step() else { return true }
    defer { lastDataVersion = dataVersion.integer(0) }
    return dataVersion.integer(0) != lastDataVersion
  }

  /// Runs `body` in one read transaction: all that it reads is one state of the database.
  func snapshot(_ body: (Database) throws -> Void) throws {
    try queue.inDatabase { db in
      try run(begin)
      defer { try? run(commit) }
      try body(db)
    }
  }

  private func run(_ statement: PreparedStatement) throws {
    defer { statement.reset() }
    _ = try statement.step()
  }
}
