import CSQLite
package import ChangeCapture
package import Ground
import LiveQuery
package import Store

/// A read-only connection of one thread that follows or reads the file.
///
/// Owner: that thread.
package final class DatabaseConnection {
  /// The `sqlite3 *` of `opened`.
  package let raw: OpaquePointer
  package let encoding: TextEncoding
  /// See `ReadTransaction`.
  package var hasLostState: Bool { transaction.hasLostState }
  /// Whether the last tick began without a transaction.
  @exclusivity(unchecked) package private(set) var hasReadFramesAlone = false
  package let transaction: ReadTransaction
  /// The number of the schema that the last snapshot saw.
  package var schemaVersion: Int64 { transaction.schemaVersion }
  /// Whether the file has another text encoding than when it was opened, so that no statement of this connection can be
  /// compiled.
  @exclusivity(unchecked) package private(set) var hasOtherEncoding = false
  /// The schema's number when a statement was last compiled.
  @exclusivity(unchecked) private var compiledSchema: Int64?
  /// The schema of the last snapshot without a WAL.
  @exclusivity(unchecked) private var schemaText: SchemaText?
  /// The result of the last `readSchema`.
  @exclusivity(unchecked) private var lastSchema = DatabaseSchema.empty
  private let positionReader: ReplicaPositionReader?
  /// The position that the last snapshot saw in a replica's file.
  @exclusivity(unchecked) package private(set) var position: ReplicaPosition?
  /// Captures which rows changed between two snapshots.
  package let capture: ChangeCapture
  /// Set when the database is found to be in WAL mode.
  @exclusivity(unchecked) package private(set) var files: WALFiles
  /// The deadline of the running query.
  package let deadline: Deadline
  private let path: String
  /// The identity of the open file. Another file may have its name by now.
  package let file: FileIdentity
  /// The state that the last snapshot saw.
  package var place: StatePlace {
    StatePlace(file: file, state: capture.state, schemaVersion: schemaVersion, position: position)
  }
  /// Declared last, so that the statements above are deallocated before it is closed.
  private let opened: Connection

  /// - Parameters:
  ///   - location: the path, or what `ReadOnlyFile.location` returned for it.
  ///   - captures: see `ChangeCapture`.
  ///   - state: the kept state of the file; nil if nothing was kept.
  ///   - readsPosition: whether every snapshot must read the file's `ReplicaPosition`.
  package init(
    path: String, location: String, _ settings: ChangeCapture.Settings, clock: MonotonicClock,
    readsPosition: Bool = false, sharing captures: FileCaptures? = nil, restoring state: CaptureState? = nil
  ) throws {
    guard let file = FileIdentity(path: path) else {
      throw FreshetError(.overloaded, "there is no file \(path)")
    }
    self.file = file
    self.path = path
    ConnectionLimits.prepare()
    (opened, encoding) = try RollbackJournal.passing(path) { () throws(SQLiteFailure) in
      let opened = try Connection(location)
      sqlite_refuse_quoted_strings(opened.raw)
      return (opened, try opened.encoding)
    }
    raw = opened.raw
    capture = ChangeCapture(raw, settings, sharing: captures, restoring: state)
    transaction = try ReadTransaction(raw, capture)
    try ConnectionLimits.apply(to: raw)
    files = WALFiles(of: raw)
    deadline = Deadline(of: raw, clock: clock)
    positionReader = readsPosition ? ReplicaPositionReader(raw) : nil
    _ = Self.memoryLimit
  }

  /// Sets the memory limit of all connections of the process, because sorting, grouping and recursion work in memory,
  /// and one query could exhaust it.
  private static let memoryLimit = sqlite3_hard_heap_limit64(1 << 30)

  /// Removes the progress handler, because queries' statements, and with them the connection, may outlive this object
  /// and its deadline.
  deinit { sqlite3_progress_handler(raw, 0, nil, nil) }

  /// Must be called before each access to the database, because other processes may have shortened its -shm.
  ///
  /// - Returns: false if access would crash the process.
  package func restoreSharedMemory() -> Bool { files.restoreSharedMemory() }

  /// Frees cached pages that SQLite does not need.
  package func releasePages() { sqlite3_db_release_memory(raw) }

  /// Runs `body` in one read transaction, which sees one state of the database that `capture` has identified.
  package func snapshot(_ body: () throws -> Void) throws {
    defer { capture.release() }
    try beginSnapshot()
    try transaction.run(isLate: false, body)
  }

  /// The tables that have changed, if frames of the WAL contain all changes; nil if a transaction is needed. To be
  /// followed by `tick`.
  package func changedTables() -> [Int]? { positionReader == nil ? capture.identifyFromFrames() : nil }

  /// Runs `body` as `snapshot` does.
  ///
  /// - Parameter readsFramesAlone: whether `changedTables` has shown that frames are enough. The tick then has no
  ///   transaction until something else must be read (`transaction`). If the file is in another state by then, it
  ///   cannot be read.
  package func tick(readsFramesAlone: Bool, _ body: () throws -> Void) throws {
    hasReadFramesAlone = readsFramesAlone
    guard readsFramesAlone else {
      capture.returnToSeenState()
      return try snapshot(body)
    }
    defer { capture.release() }
    try transaction.run(isLate: true, body)
  }

  /// The most tries to begin a transaction in a known state. While another connection writes at full speed, one try in
  /// ten meets a commit.
  private static let tries = 10_000

  private func beginSnapshot() throws {
    for _ in 0..<Self.tries {
      capture.prepare()
      try transaction.begin()
      do {
        try RollbackJournal.passing(path) { () throws(SQLiteFailure) in try transaction.readSchemaVersion() }
        try checkEncoding()
        if try capture.identify() {
          if capture.usesWAL { files.note(of: raw) } else { try checkSchemaText() }
          position = try positionReader?.read()
          return
        }
      } catch {
        if (error as? SQLiteFailure)?.isOfOtherEncoding == true { hasOtherEncoding = true }
        transaction.commit()
        throw error
      }
      transaction.commit()
    }
    throw FreshetError(.overloaded, "no state of the database lasts long enough to be read")
  }

  /// To be called inside a snapshot.
  package func readSchema() throws -> DatabaseSchema {
    ConnectionLimits.resetValue(of: raw)
    try avoidAutomaticIndexes()
    lastSchema = try DatabaseSchema.read(raw, after: lastSchema)
    return lastSchema
  }

  /// Checks the encoding. A backup that was restored into the file may have another encoding, which a connection cannot
  /// change to.
  private func checkEncoding() throws(SQLiteFailure) {
    if compiledSchema == schemaVersion { return }
    // Only running a statement makes SQLite compare the schema's number with the known one.
    _ = try PreparedStatement(raw, "SELECT 1 FROM main.sqlite_master", isPersistent: false).step()
    compiledSchema = schemaVersion
  }

  /// Checks the schema of a file without a WAL. If the file was written over, this may look like a commit. If the
  /// schema's number happens to be the same, SQLite uses the schema that it knows.
  private func checkSchemaText() throws {
    var hasher = Hasher()
    let statement = try PreparedStatement(
      raw, "SELECT name, rootpage, sql FROM main.sqlite_master", isPersistent: false)
    while try statement.step() {
      hasher.combine(statement.text(0))
      hasher.combine(statement.integer(1))
      hasher.combine(statement.text(2))
    }
    let text = SchemaText(version: schemaVersion, hash: hasher.finalize())
    defer { schemaText = text }
    guard let schemaText, schemaText.version == text.version, schemaText.hash != text.hash else { return }
    capture.noteOverwritten(nil)
    throw FreshetError(.overloaded, "the database's files are being replaced: try again")
  }

  private struct SchemaText {
    let version: Int64
    let hash: Int
  }

  /// Switches off automatic indexes. With them, SQLite misses rows if a column under RTRIM is joined (seen with
  /// 3.40.1), so that joins would lack rows that look-ups find. To be removed once no supported SQLite does so.
  private func avoidAutomaticIndexes() throws(SQLiteFailure) {
    let uses = try PreparedStatement(
      raw, "SELECT 1 FROM main.sqlite_master WHERE sql LIKE '%rtrim%' LIMIT 1", isPersistent: false)
    let isUsed = try uses.step()
    uses.reset()
    try PreparedStatement.run(raw, "PRAGMA automatic_index = \(isUsed ? "OFF" : "ON")")
  }
}
