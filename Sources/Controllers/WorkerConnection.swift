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
  private var lastDataVersion: Int64 = -1
  /// Of queries.
  let deadline: Deadline
  /// The file that was opened: another one may come to have its name.
  let file: FileIdentity
  /// Declared last, so that it is closed after the statements above are gone.
  private let queue: DatabaseQueue

  init(path: String) throws {
    guard let file = FileIdentity(path: path) else {
      throw StoreError(code: .overloaded, message: "there is no file \(path)")
    }
    self.file = file
    queue = try WorkerConnection.open(path)
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
    deadline = Deadline(of: raw)
  }

  /// Opens the file for reading. In a directory that cannot be written to, SQLite refuses a file in WAL mode without its
  /// -shm: then nobody but the owner of other rights can be writing, and the file is read as it is.
  private static func open(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    configuration.label = "freshet worker"
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.inDatabase { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
      return queue
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_CANTOPEN || error.resultCode == .SQLITE_READONLY
    {
      let escaped = path.utf8.map { byte in
        byte.isPlainInURI ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
      return try DatabaseQueue(path: "file:\(escaped)?immutable=1", configuration: configuration)
    }
  }

  /// Whether any other connection has committed (or checkpointed) since the last `takeChange`. Outside transactions only.
  func hasChanged() throws -> Bool { try currentDataVersion() != lastDataVersion }

  /// Inside a snapshot: whether it shows another state than the last one (or a checkpoint came between).
  func takeChange() throws -> Bool {
    let version = try currentDataVersion()
    defer { lastDataVersion = version }
    return version != lastDataVersion
  }

  private func currentDataVersion() throws -> Int64 {
    defer { dataVersion.reset() }
    return try dataVersion.step() ? dataVersion.integer(0) : -1
  }

  /// Any CREATE, ALTER, DROP or VACUUM moves it.
  func schemaVersion() throws -> Int64 {
    defer { schemaVersionReader.reset() }
    return try schemaVersionReader.step() ? schemaVersionReader.integer(0) : -1
  }

  /// Runs `body` in one read transaction: all that it reads is one state of the database.
  func snapshot(_ body: (Database) throws -> Void) throws {
    try queue.inDatabase { db in
      try run(begin)
      defer { if sqlite3_get_autocommit(raw) == 0 { try? run(commit) } }
      try body(db)
    }
  }

  private func run(_ statement: PreparedStatement) throws {
    defer { statement.reset() }
    _ = try statement.step()
  }
}

extension UInt8 {
  fileprivate var isPlainInURI: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
