import CSQLite
import ChangeCapture
import Ground
package import LiveQuery

/// Writes for clients: one connection, one transaction at a time.
///
/// What clients may do is the authorizer's to say: insert, update, delete and select, in the tables of the schema. No
/// transaction control, no PRAGMA, no ATTACH, no change of the schema, and nothing in tables named `_freshet_…` (but
/// triggers that version 0.1 left may write there).
///
/// Owner: one thread at a time.
package final class Writer: FileConnection {
  package let file: FileIdentity?
  private let opened: Connection
  var connection: OpaquePointer { opened.raw }
  private let deadline: Deadline
  let audit = WriteAudit()
  package let interruption: Interruption
  /// The longest that a transaction's statements may take.
  private let timeout: Nanoseconds
  /// The name of the database file, for messages.
  private let fileName: String
  /// Since the first transaction: a connection opens the -wal when it first reads.
  private var checkpoint: GuardedCheckpoint?
  package private(set) var files: WALFiles
  /// Whether another connection may fare better: this one may have been opened wrongly, for example only for reading.
  package private(set) var isDoubtful = false

  private var contents: FileContents
  package var isOverwritten: Bool { contents.look() != .own }
  package var staleGeneration: UInt64? { contents.staleGeneration }
  package func noteOverwritten(_ staleGeneration: UInt64?) { contents.noteOverwritten(staleGeneration) }
  package func noteReportedWrite() { contents.isReported = true }

  /// Whether `rescue` has emptied the WAL-index, so that it goes with any -wal.
  package private(set) var isEmptied = false

  /// Opens the database at `path` for writing; it must exist.
  package init(path: String, timeout: Duration = .seconds(30)) throws(FreshetError) {
    file = FileIdentity(path: path)
    fileName = path.split(separator: "/").last.map(String.init) ?? path
    ConnectionLimits.prepare()
    do throws(SQLiteFailure) { opened = try Connection(path, .writing) } catch {
      throw FreshetError(writeFailure: error, place: "cannot open \(fileName) for writing")
    }
    let connection = opened.raw
    interruption = Interruption(of: connection)
    self.timeout = Nanoseconds(timeout)
    files = WALFiles(of: connection)
    contents = FileContents(of: connection)
    deadline = Deadline(of: connection)
    do throws(SQLiteFailure) {
      try run("PRAGMA foreign_keys = ON")
      try ConnectionLimits.apply(to: connection)
    } catch {
      throw FreshetError(writeFailure: error)
    }
    setAuthorizer()
  }

  deinit {
    interruption.end()
    sqlite3_set_authorizer(connection, nil, nil)
    if isOverwritten {
      // The -wal belongs to the former contents.
      sqlite_leave_wal_on_close(connection)
    } else if files.state == .same {
      checkpoint?.close()
    }
  }

  /// Begins a transaction, to be followed by `transact`.
  ///
  /// - Returns: false, having begun nothing, when another connection is needed: the -wal or -shm was deleted (see
  ///   `rescue`), the file overwritten, or restored in another encoding.
  /// - Throws: `read_only`, `overloaded`.
  package func begin() throws(FreshetError) -> Bool {
    // An error that remains shows in the transaction.
    _ = files.restoreSharedMemory()
    try control("BEGIN IMMEDIATE")
    withoutAuthorizer { files.note(of: connection) }
    guard files.state == .same, !isOverwritten else {
      try? run("ROLLBACK")
      return false
    }
    contents.note(usesWAL: files.sharedMemory != nil)
    ConnectionLimits.resetValue(of: connection)
    // Before anything is written, so that both have the same files.
    if checkpoint == nil {
      checkpoint = withoutAuthorizer {
        GuardedCheckpoint(for: connection, path: files.path, patience: Connection.patience)
      }
    }
    // Now, for a long schema takes more than the statement that would have it read.
    do throws(SQLiteFailure) { try run("SELECT 1 FROM main.sqlite_master LIMIT 1") } catch {
      try? run("ROLLBACK")
      if error.isOfOtherEncoding { return false }
      throw failure(error)
    }
    return true
  }

  /// Runs all statements in the transaction that was begun, and commits it: all of them, or none.
  ///
  /// - Returns: the outcome of each. The writes are visible to others.
  /// - Throws: `constraint`, `not_allowed`, `bad_query` and its like, `timeout`, `too_large`, `read_only`,
  ///   `overloaded`; `internal` when it is not known whether they are in the file.
  package func transact(_ transaction: Transaction) throws(FreshetError) -> [StatementResult] {
    let results: [StatementResult]
    do throws(FreshetError) {
      results = try deadline.limited(to: timeout) { () throws(FreshetError) in try run(transaction) }
      try control("COMMIT")
    } catch {
      // A failed statement may have ended the transaction itself.
      if sqlite3_get_autocommit(connection) == 0 { try? run("ROLLBACK") }
      throw error
    }
    let state = files.state
    guard state == .same || rescue() else {
      throw FreshetError(
        .internal,
        "\(fileName)-wal or -shm was deleted while the transaction was written: it may be lost; check before you repeat it"
      )
    }
    if state == .same { withoutAuthorizer { checkpoint?.runIfDue() } }
    return results
  }

  /// Runs BEGIN or COMMIT.
  private func control(_ sql: String) throws(FreshetError) {
    do throws(SQLiteFailure) { try run(sql) } catch { throw failure(error) }
  }

  /// SQLite's error, with the file's name if the file is the cause.
  func failure(_ error: SQLiteFailure, place: String? = nil) -> FreshetError {
    let ofFile = [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_IOERR, SQLITE_NOTADB, SQLITE_CORRUPT]
    guard ofFile.contains(error.primaryCode) else { return FreshetError(writeFailure: error, place: place) }
    isDoubtful = true
    return FreshetError(writeFailure: error, place: place.map { "\(fileName): \($0)" } ?? fileName)
  }

  /// The -wal or -shm was deleted. The commits are in the files that this connection still has open: they are copied
  /// into the database while no program has begun new files. The connection must then be closed: it uses files without
  /// a name.
  ///
  /// - Returns: whether everything committed is in the database file.
  @discardableResult
  package func rescue() -> Bool {
    isDoubtful = true
    // Closing would copy once more, when others may have begun files of their own, and delete those.
    sqlite_leave_wal_on_close(connection)
    guard files.state == .deleted else { return false }
    if WALResetBug.isPresent { return withoutAuthorizer { rescueGuarded() } }
    var frames: Int32 = -1
    var copied: Int32 = -1
    let code = sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied)
    isEmptied = code == SQLITE_OK
    // Busy: a connection still reads the old frames. They are in the database as well.
    return [SQLITE_OK, SQLITE_BUSY].contains(code & 0xFF) && frames >= 0 && frames == copied
  }

  private func rescueGuarded() -> Bool {
    guard let checkpoint, checkpoint.runToTheEnd(milliseconds: Int(Connection.patience)) else { return false }
    isEmptied = checkpoint.empty()
    return true
  }

  func withoutAuthorizer<Result>(_ body: () -> Result) -> Result {
    sqlite3_set_authorizer(connection, nil, nil)
    defer { setAuthorizer() }
    return body()
  }

  private func setAuthorizer() {
    sqlite3_set_authorizer(connection, authorizeWrite, Unmanaged.passUnretained(audit).toOpaque())
  }

  private func run(_ sql: String) throws(SQLiteFailure) {
    let code = withoutAuthorizer { sqlite3_exec(connection, sql, nil, nil, nil) }
    if code != SQLITE_OK { throw SQLiteFailure(of: connection, code) }
  }
}

extension FreshetError {
  /// SQLite's error of a write.
  init(writeFailure error: SQLiteFailure, place: String? = nil) {
    let message = (place.map { "\($0): " } ?? "") + error.message
    // Some things SQLite refuses in words alone, under its most general code.
    let isDenied =
      error.primaryCode == SQLITE_AUTH || error.message.hasPrefix("not authorized")
      || error.message.hasSuffix("may not be modified")
    if let spent = Budget.failure(error) {
      self = spent
      return
    }
    switch error.primaryCode {
    case _ where isDenied:
      self.init(.notAllowed, "\(message): a transaction may insert, update, delete and select")
    case SQLITE_CONSTRAINT: self.init(.constraint, message)
    // Another file has the name: it is opened for the next transaction.
    case SQLITE_READONLY where error.code == SQLITE_READONLY | (4 << 8): self.init(.overloaded, message)
    case SQLITE_READONLY, SQLITE_PERM: self.init(.readOnly, message)
    case SQLITE_RANGE, SQLITE_MISMATCH: self.init(.badQuery, message)
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN: self.init(.overloaded, message)
    default: self.init(queryFailure: error, place: place)
    }
  }
}
