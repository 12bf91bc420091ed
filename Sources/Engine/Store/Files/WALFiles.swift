import CSQLite
import ChangeCapture
package import Ground

/// The -wal and -shm of a database in WAL mode, as a connection has them open.
///
/// SQLite deletes neither while the database is open anywhere, but people and scripts do. A connection then goes on
/// with files that have no name: what it writes is gone when the last process closes them, and what others write it
/// does not see.
///
/// Owner: the thread that uses the connection.
package struct WALFiles: Sendable {
  package enum State: Sendable {
    case same
    /// One was deleted, and there is no other in its place.
    case deleted
    /// Replaced by another program's file.
    case replaced
  }

  let path: String
  let walPath: String
  let sharedMemoryPath: String
  private(set) var database: FileIdentity?
  private(set) var wal: FileIdentity?
  /// Whether the -shm in use is not the one that has the name, and never was.
  fileprivate var isUnnamed = false
  /// Nil while the database is not in WAL mode, as far as is known.
  package private(set) var sharedMemory: FileIdentity?
  /// The same file.
  private(set) var openSharedMemory: SizedFile?
  /// The most that the -shm was seen to have: as much may be mapped.
  var sharedMemorySize = 0

  /// - Parameter connection: it knows where links lead to.
  package init(of connection: OpaquePointer) {
    path = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? ""
    walPath = path + "-wal"
    sharedMemoryPath = path + "-shm"
  }

  /// Must be called while the connection uses the files. The first note stays: those are the files that it has open.
  package mutating func note(of connection: OpaquePointer) {
    if wal != nil || (try? isInWALMode(connection)) != true { return }
    database = FileIdentity(path: path)
    wal = FileIdentity(path: walPath)
    guard let status = FileStatus(path: sharedMemoryPath) else { return isUnnamed = true }
    sharedMemory = status.identity
    sharedMemorySize = status.size
    openSharedMemory = SizedFile(path: sharedMemoryPath, status.identity)
    // Another connection of this process may have one that was deleted, which is this connection's, too.
    isUnnamed = !status.identity.isMappedAsSharedMemory
  }

  /// The present state of the files. Two system calls.
  package var state: State {
    guard let wal else { return .same }
    if isUnnamed { return .replaced }
    let walNow = FileStatus(path: walPath)
    let sharedMemoryNow = FileIdentity(path: sharedMemoryPath)
    if walNow?.identity == wal, sharedMemoryNow == sharedMemory { return .same }
    // A reader makes an empty one.
    let isAnother = walNow.map { $0.identity != wal && $0.size > 0 } ?? false
    return isAnother || (sharedMemoryNow != nil && sharedMemoryNow != sharedMemory) ? .replaced : .deleted
  }
}

/// Files that have to be given up before the database is opened again, because one was deleted or overwritten.
/// All connections of a process to one database share one mapping of the -shm: a connection that is opened while
/// a former one has a deleted -shm gets that, and shares no locks with writers that have the new one.
package struct LostFiles: Sendable {
  private let files: WALFiles
  private let isEmptied: Bool
  private let isOverwritten: Bool
  private let staleGeneration: UInt64?
  private let clock: MonotonicClock
  private let deadline: Instant
  /// How long a program may take to write over a file, while lists keep what they show.
  private static let longestCopy = Nanoseconds.milliseconds(60_000)
  /// How long to wait for the process's other connections when a -wal must not be applied: a connection that is opened
  /// before they close would see it. On a busy machine their threads may not run for seconds.
  private static let longestUse = Nanoseconds.milliseconds(10_000)

  /// - Parameters:
  ///   - isEmptied: whether the WAL-index is empty, and goes with any -wal.
  ///   - isOverwritten: whether anything but SQLite has written to the database file.
  ///   - staleGeneration: as of `FileContents`.
  package init(
    _ files: WALFiles, isEmptied: Bool, isOverwritten: Bool = false, staleGeneration: UInt64? = nil,
    clock: MonotonicClock = .system
  ) {
    self.files = files
    self.isEmptied = isEmptied
    self.isOverwritten = isOverwritten
    self.staleGeneration = staleGeneration
    self.clock = clock
    deadline = clock.now + (staleGeneration == nil ? .milliseconds(1_000) : Self.longestUse)
  }

  /// Whether all connections have had the time to be closed.
  package var isOverdue: Bool {
    let now = clock.now
    return now >= deadline && (isSettled || now >= deadline + Self.longestCopy)
  }

  /// Whether nothing is writing over the file at present.
  private var isSettled: Bool { !isOverwritten || DiskState(path: files.path)?.isSettled != false }

  /// Whether a connection that is opened now gets the files that other processes have.
  package var mayOpen: Bool {
    if !isSettled { return false }
    if files.isUnnamed { return !files.isDeletedMapped }
    // SQLite distinguishes them by the database's own file.
    if FileIdentity(path: files.path) != files.database { return true }
    if files.sharedMemory?.isMappedAsSharedMemory != true { return true }
    // Others may have opened the database anew by now.
    return FileIdentity(path: files.sharedMemoryPath) == files.sharedMemory && (isEmptied || isOverdue)
  }

  /// Empties a -wal that must not be applied to the file's new contents.
  func discardStaleLog() { if let staleGeneration { StaleLog.discard(staleGeneration, of: files) } }
}

func isInWALMode(_ connection: OpaquePointer) throws(SQLiteFailure) -> Bool {
  let mode = try PreparedStatement(connection, "PRAGMA main.journal_mode", isPersistent: false)
  return try mode.step() && mode.text(0) == "wal"
}
