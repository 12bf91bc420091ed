import CSQLite
import ChangeCapture
import Ground
package import LiveQuery

/// Writes for clients: one connection, one transaction at a time.
///
/// The authorizer decides what clients may do: insert, update, delete and select, in the tables of the schema. It
/// allows no transaction control, no PRAGMA, no ATTACH, no change of the schema, and no access to tables named
/// `_freshet_…` (except for triggers that version 0.1 left).
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
  /// Nil before the first transaction, because a connection opens the -wal when it first reads.
  private var checkpoint: GuardedCheckpoint?
  package private(set) var files: WALFiles
  /// Whether a new connection may work better, because this one may have been opened wrongly, for example only for
  /// reading.
  package private(set) var isDoubtful = false

  private var contents: FileContents
  package var isOverwritten: Bool { contents.look() != .own }
  package var staleGeneration: UInt64? { contents.staleGeneration }
  package func noteOverwritten(_ staleGeneration: UInt64?) { contents.noteOverwritten(staleGeneration) }
  package func noteReportedWrite() { contents.isReported = true }

  /// Whether `rescue` has emptied the WAL-index, so that it is right for any -wal.
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
      // The -wal belongs to the former contents, so it is left as it is.
      sqlite_leave_wal_on_close(connection)
    } else if files.state == .same {
      checkpoint?.close()
    }
  }

  /// Begins a transaction, to be followed by `transact`.
  ///
  /// - Returns: false, and no transaction is begun, if a new connection is needed: the -wal or -shm was deleted (see
  ///   `rescue`), or the file was overwritten, or restored in another encoding.
  /// - Throws: `read_only`, `overloaded`.
  package func begin() throws(FreshetError) -> Bool {
    // If this fails and the error remains, the transaction reports it.
    _ = files.restoreSharedMemory()
    try control("BEGIN IMMEDIATE")
    withoutAuthorizer { files.note(of: connection) }
    guard files.state == .same, !isOverwritten else {
      try? run("ROLLBACK")
      return false
    }
    contents.note(usesWAL: files.sharedMemory != nil)
    ConnectionLimits.resetValue(of: connection)
    // This opens a second connection before anything is written, so that both have the same files open.
    if checkpoint == nil {
      checkpoint = withoutAuthorizer {
        GuardedCheckpoint(for: connection, path: files.path, patience: Connection.patience)
      }
    }
    // The schema is read now, because reading a long schema may take more than a statement's budget.
    do throws(SQLiteFailure) { try run("SELECT 1 FROM main.sqlite_master LIMIT 1") } catch {
      try? run("ROLLBACK")
      if error.isOfOtherEncoding { return false }
      throw failure(error)
    }
    return true
  }

  /// Runs all statements in the transaction that was begun, and commits it. If one fails, all are rolled back.
  ///
  /// - Returns: the outcome of each statement. The writes are visible to other connections then.
  /// - Throws: `constraint`, `not_allowed`, `bad_query` and similar errors, `timeout`, `too_large`, `read_only`,
  ///   `overloaded`; `internal` if it is unknown whether the writes are in the file.
  package func transact(_ transaction: Transaction) throws(FreshetError) -> [StatementResult] {
    let results: [StatementResult]
    do throws(FreshetError) {
      results = try deadline.limited(to: timeout) { () throws(FreshetError) in try run(transaction) }
      try control("COMMIT")
    } catch {
      // The failed statement may have ended the transaction already.
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

  /// Called when the -wal or -shm was deleted. The commits are in the deleted files, which this connection still has
  /// open. They are copied into the database, unless a program has created new files already. The connection must then
  /// be closed, because its files have no name.
  ///
  /// - Returns: whether everything committed is in the database file.
  @discardableResult
  package func rescue() -> Bool {
    isDoubtful = true
    // Closing must not checkpoint: other programs may have created files of their own by then, which it would delete.
    sqlite_leave_wal_on_close(connection)
    guard files.state == .deleted else { return false }
    if WALResetBug.isPresent { return withoutAuthorizer { rescueGuarded() } }
    var frames: Int32 = -1
    var copied: Int32 = -1
    let code = sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied)
    isEmptied = code == SQLITE_OK
    // SQLITE_BUSY means that a connection still reads old frames. These are in the database as well.
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
    // SQLite reports some refusals only in its message, with its most general code.
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
    // Another file has the name. It is opened for the next transaction.
    case SQLITE_READONLY where error.code == SQLITE_READONLY | (4 << 8): self.init(.overloaded, message)
    case SQLITE_READONLY, SQLITE_PERM: self.init(.readOnly, message)
    case SQLITE_RANGE, SQLITE_MISMATCH: self.init(.badQuery, message)
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN: self.init(.overloaded, message)
    default: self.init(queryFailure: error, place: place)
    }
  }
}
