import CSQLite
import Ground
import Synchronization

/// Checkpoints for a connection that writes, made while no program can commit: this connection holds the write lock,
/// and a second connection checkpoints. So the WAL cannot start over during the checkpoint, which the WAL-reset bug
/// requires.
///
/// A checkpoint is due when SQLite itself would begin one: when the WAL has 1,000 frames after a commit of this
/// connection. If other programs commit as well, they are left to checkpoint until the WAL has eight times as many
/// frames. Otherwise our checkpoint could be the first of the two checkpoints that the bug requires, and theirs the
/// second.
///
/// If the SQLite version does not have the bug, this does nothing, and SQLite checkpoints as usual.
///
/// Owner: the thread that uses the connection. Must be closed before that connection is.
package final class GuardedCheckpoint {
  package enum Outcome: Equatable, Sendable {
    /// Whether all frames are in the database file, or only some, because readers need the others.
    case complete, partial
    /// Another connection writes or checkpoints, or the file was replaced.
    case notNow
  }

  /// The number of frames in the WAL from which a checkpoint is due, as by SQLite's default.
  static let frames: Int32 = 1_000
  /// As above, if other programs commit as well.
  static let framesBesideOthers: Int32 = 8_000
  /// The number of new frames between two tries while readers keep the WAL from starting over.
  private static let interval: Int32 = 250

  private let writer: OpaquePointer
  private let path: String
  private let patience: Int32
  private let opened: Connection?
  private var checkpointer: OpaquePointer? { opened?.raw }
  /// The number of frames in the WAL after the last commit of `writer`; 0 if it has not committed since the last
  /// checkpoint.
  private var committedFrames: Int32 = 0
  /// The number of frames at which the next try is due.
  private var due = GuardedCheckpoint.frames
  /// SQLite's `data_version`, which changes with the commits of other connections.
  private var othersVersion: Int64?

  /// - Parameters:
  ///   - path: the path of the file that `writer` has open.
  ///   - patience: the busy timeout of `writer`, in milliseconds.
  package init(for writer: OpaquePointer, path: String, patience: Int32) {
    self.writer = writer
    self.path = path
    self.patience = patience
    opened = WALResetBug.isPresent ? Self.open(path) : nil
    if opened == nil { return }
    _ = othersCommit
    sqlite3_wal_hook(
      writer,
      { context, _, _, frames in
        if let context {
          Unmanaged<GuardedCheckpoint>.fromOpaque(context).takeUnretainedValue().committedFrames = frames
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Called before the writing connection is closed. Copies commits into the database file if that needs no waiting, as
  /// SQLite does when a connection is closed.
  package func close() {
    if checkpointer == nil { return }
    if committedFrames > 0 { run() }
    sqlite3_wal_hook(writer, nil, nil)
  }

  /// To be called after a commit, outside of transactions.
  package func runIfDue() {
    guard checkpointer != nil, committedFrames >= Self.frames else { return due = Self.frames }
    if committedFrames < due { return }
    due = committedFrames + Self.interval
    if committedFrames < Self.framesBesideOthers, othersCommit { return }
    run()
  }

  /// Whether another connection has committed since this was last read.
  private var othersCommit: Bool {
    guard let statement = try? PreparedStatement(writer, "PRAGMA main.data_version", isPersistent: false),
      (try? statement.step()) == true
    else { return false }
    defer { othersVersion = statement.integer(0) }
    return othersVersion != nil && othersVersion != statement.integer(0)
  }

  /// The number of checkpoints of a file that were begun in this process.
  package static func count(of path: String) -> Int { begun.withLock { $0[path] ?? 0 } }
  private static let begun = Mutex<[String: Int]>([:])

  /// Checkpoints now, without waiting for locks.
  @discardableResult
  package func run() -> Outcome {
    guard let checkpointer, beginGuard() else { return .notNow }
    defer { endGuard() }
    Self.begun.withLock { $0[path, default: 0] += 1 }
    guard isGuarded else { return .notNow }
    let outcome = Self.copy(checkpointer)
    if outcome != .notNow { committedFrames = 0 }
    return outcome
  }

  // MARK: - The guard

  private func beginGuard() -> Bool {
    sqlite3_busy_timeout(writer, 0)
    defer { sqlite3_busy_timeout(writer, patience) }
    return sqlite3_get_autocommit(writer) != 0 && sqlite3_exec(writer, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
  }

  /// Ends the guard's transaction. It wrote nothing, so it does not start the WAL over.
  private func endGuard() { sqlite3_exec(writer, "ROLLBACK", nil, nil, nil) }

  /// Whether the guard holds for the connection that checkpoints: whether both connections have the same WAL-index, the
  /// same WAL, and the file that has the name.
  private var isGuarded: Bool {
    guard let checkpointer else { return false }
    let code = sqlite3_exec(checkpointer, "BEGIN IMMEDIATE", nil, nil, nil)
    if code == SQLITE_OK { sqlite3_exec(checkpointer, "ROLLBACK", nil, nil, nil) }
    return code & 0xFF == SQLITE_BUSY && haveSameWAL(writer, checkpointer)
  }

  /// Makes a PASSIVE checkpoint, because other modes need the write lock, which the guard holds.
  private static func copy(_ connection: OpaquePointer) -> Outcome {
    var (frames, copied): (Int32, Int32) = (-1, -1)
    let code = sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &copied)
    guard code == SQLITE_OK, frames >= 0 else { return .notNow }
    return frames == copied ? .complete : .partial
  }

  private static func open(_ path: String) -> Connection? {
    guard let connection = try? Connection(path, .writing, patience: 0) else { return nil }
    // A connection opens the -wal with its first read, so it reads now, to open the one that the writer has.
    try? connection.run("PRAGMA main.schema_version")
    return connection
  }
}

// MARK: - Files that have lost their names

extension GuardedCheckpoint {
  /// Copies all commits into the database file, and waits for readers.
  ///
  /// - Returns: whether everything is in the database file.
  func runToTheEnd(milliseconds: Int) -> Bool {
    for _ in 0..<max(1, milliseconds) {
      if run() == .complete { return true }
      usleep(1_000)
    }
    return false
  }

  /// Empties the WAL-index and the -wal, after everything was copied.
  ///
  /// The checkpoint itself takes the write lock, so there can be no guard. If SQLite's busy handler gives up, SQLite
  /// checkpoints without the lock. This busy handler interrupts the checkpoint instead, before it copies a page.
  ///
  /// - Returns: whether both are empty.
  func empty() -> Bool {
    sqlite3_busy_handler(
      writer,
      { connection, tries in
        usleep(1_000)
        if tries < 1_000 { return 1 }
        sqlite3_interrupt(connection.map { OpaquePointer($0) })
        return 0
      }, UnsafeMutableRawPointer(writer))
    defer { sqlite3_busy_timeout(writer, patience) }
    return sqlite3_wal_checkpoint_v2(writer, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
  }
}

/// Whether two connections have the same -wal open: its header has random salts. Empty ones have nothing to copy.
private func haveSameWAL(_ one: OpaquePointer, _ other: OpaquePointer) -> Bool {
  func header(_ connection: OpaquePointer) -> [UInt8]? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var bytes = [UInt8](repeating: 0, count: 32)
    let found = withUnsafeMutablePointer(to: &file) {
      sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, $0)
    }
    guard found == SQLITE_OK, let file, let methods = file.pointee.pMethods else { return nil }
    return methods.pointee.xRead(file, &bytes, 32, 0) == SQLITE_OK ? bytes : nil
  }
  return header(one) == header(other)
}
