import GRDB
import GRDBSQLite
import LiveQuery
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
  private let schemaVersionReader: PreparedStatement
  private var lastDataVersion: UInt32?
  /// Nil while the database is not in WAL mode, as far as is known.
  private var walIndex: WALIndex?
  /// Noted with `walIndex`.
  private(set) var files: WALFiles
  /// Of queries.
  let deadline: Deadline
  /// The file that was opened: another one may come to have its name.
  let file: FileIdentity
  /// Declared last, so that it is closed after the statements above are gone.
  private let queue: DatabaseQueue

  /// - Parameter location: the path, or what `ReadOnlyFile` makes of it.
  init(path: String, location: String) throws {
    guard let file = FileIdentity(path: path) else {
      throw StoreError(code: .overloaded, message: "there is no file \(path)")
    }
    self.file = file
    var configuration = Configuration()
    configuration.readonly = true
    // Snapshots go around GRDB.
    configuration.allowsUnsafeTransactions = true
    configuration.busyMode = .timeout(5)
    configuration.label = "freshet worker"
    queue = try DatabaseQueue(path: location, configuration: configuration)
    (raw, encoding) = try queue.inDatabase { db in
      let name = try String.fetchOne(db, sql: "PRAGMA encoding") ?? ""
      return (db.sqliteConnection!, TextEncoding(rawValue: name) ?? .utf8)
    }
    // Tables of parameters are small and many.
    try PreparedStatement.run(raw, "PRAGMA temp_store = MEMORY")
    begin = try PreparedStatement(raw, "BEGIN")
    commit = try PreparedStatement(raw, "COMMIT")
    dataVersion = try PreparedStatement(raw, "PRAGMA main.data_version")
    schemaVersionReader = try PreparedStatement(raw, "PRAGMA main.schema_version")
    // A cap on what a single value may be made to hold by an expression.
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 64 << 20)
    // A pattern is tried at every place of a text, and cannot be interrupted.
    sqlite3_limit(raw, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, FragmentChecker.longestPattern)
    files = WALFiles(of: raw)
    deadline = Deadline(of: raw)
    _ = Self.memoryLimit
  }

  /// What all connections of the process may take together: sorting, grouping and recursion keep what they need in memory,
  /// and without a bound one query could take all there is.
  private static let memoryLimit = sqlite3_hard_heap_limit64(1 << 30)

  /// Statements of queries may outlive this, and the connection with them; the deadline does not.
  deinit { sqlite3_progress_handler(raw, 0, nil, nil) }

  /// Whether any other connection may have committed (or checkpointed) since the last snapshot. Outside transactions only.
  func hasChanged() throws -> Bool {
    if let walIndex { return walIndex.hasMoved }
    // Looks at the file.
    try run(dataVersion)
    return seenDataVersion != lastDataVersion
  }

  /// Whether asking `hasChanged` costs next to nothing.
  var canAskOften: Bool { walIndex != nil }

  /// Inside a snapshot in which something was read: whether it shows another state than the last one (or a checkpoint came
  /// between).
  func takeChange() -> Bool {
    let version = seenDataVersion
    if walIndex == nil, version != lastDataVersion {
      walIndex = WALIndex(of: raw)
      if walIndex != nil { files.note(of: raw) }
    }
    defer { lastDataVersion = version }
    return version != lastDataVersion
  }

  /// To be called before the database is looked at, after others may have shortened its -shm.
  ///
  /// - Returns: false when that would end the process.
  func restoreSharedMemory() -> Bool { files.restoreSharedMemory() }

  /// What `takeChange` told could not be followed: it will tell it again.
  func forgetChange() { lastDataVersion = nil }

  /// Inside a snapshot whose transaction an error may have ended, as SQLite does after some: goes on in another one, if that
  /// shows the same state. If not, nothing more can be read in this snapshot (`ResultReader.checkSnapshot`).
  func restoreSnapshot() {
    guard sqlite3_get_autocommit(raw) != 0, (try? run(begin)) != nil else { return }
    if (try? schemaVersion()) == nil || seenDataVersion != lastDataVersion { try? run(commit) }
  }

  /// Of the state that was read last.
  private var seenDataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(raw, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Any CREATE, ALTER, DROP or VACUUM moves it.
  func schemaVersion() throws -> Int64 {
    defer { schemaVersionReader.reset() }
    return try schemaVersionReader.step() ? schemaVersionReader.integer(0) : -1
  }

  /// Frees the pages that SQLite keeps of the file. Outside transactions only.
  func releasePages() { sqlite3_db_release_memory(raw) }

  /// Runs `body` in one read transaction: all that it reads is one state of the database.
  func snapshot(_ body: () throws -> Void) throws {
    walIndex?.note()
    try run(begin)
    defer { if sqlite3_get_autocommit(raw) == 0 { try? run(commit) } }
    try body()
  }

  /// For what is not done at every turn: the connection as GRDB sees it, also inside a snapshot.
  func withDatabase(_ body: (Database) throws -> Void) throws { try queue.inDatabase(body) }

  private func run(_ statement: PreparedStatement) throws {
    defer { statement.reset() }
    _ = try statement.step()
  }
}
