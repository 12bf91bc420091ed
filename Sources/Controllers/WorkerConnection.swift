import GRDB
import GRDBSQLite
import LiveQuery
import Store

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
  private let deadline = Deadline()
  /// Declared last, so that it is closed after the statements above are gone.
  private let queue: DatabaseQueue

  /// When the statement that runs is to be given up.
  private final class Deadline {
    var nanoseconds: UInt64 = .max
  }

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
    sqlite3_progress_handler(
      raw, 5_000,
      { context in
        let deadline = Unmanaged<Deadline>.fromOpaque(context!).takeUnretainedValue()
        return monotonicNanoseconds() > deadline.nanoseconds ? 1 : 0
      }, Unmanaged.passUnretained(deadline).toOpaque())
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

  /// Gives up whatever `body` runs after some time: its statement fails with `SQLITE_INTERRUPT`.
  func limited<Result>(
    milliseconds: Int, _ body: () throws(FreshetError) -> Result
  ) throws(FreshetError) -> Result {
    deadline.nanoseconds = monotonicNanoseconds() + UInt64(milliseconds) * 1_000_000
    defer { deadline.nanoseconds = .max }
    return try body()
  }
}

/// Nanoseconds of a clock that never goes back.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
