import CSQLite
import ChangeCapture
package import Ground

/// The -wal and -shm of a database in WAL mode, as a connection has them open.
///
/// SQLite deletes neither while the database is open anywhere, but people and scripts do. A connection then keeps using
/// files that have no name: its writes are lost when the last process closes them, and it does not see the writes of
/// others.
///
/// Owner: the thread that uses the connection.
package struct WALFiles: Sendable {
  package enum State: Sendable {
    case same
    /// A file was deleted, and no other file has its name.
    case deleted
    /// A file was replaced by another program's file.
    case replaced
  }

  let path: String
  let walPath: String
  let sharedMemoryPath: String
  private(set) var database: FileIdentity?
  private(set) var wal: FileIdentity?
  /// Whether the -shm in use is not the file that has the name, and was not when the files were noted.
  fileprivate var isUnnamed = false
  /// The identity of the -shm; nil if the database is not known to be in WAL mode.
  package private(set) var sharedMemory: FileIdentity?
  /// The -shm, for reading its size.
  private(set) var openSharedMemory: SizedFile?
  /// The largest size of the -shm that was seen. The mappings may reach that far.
  var sharedMemorySize = 0

  /// - Parameter connection: gives the path of the database with symbolic links resolved.
  package init(of connection: OpaquePointer) {
    path = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? ""
    walPath = path + "-wal"
    sharedMemoryPath = path + "-shm"
  }

  /// Notes which files the connection has open. Must be called while the connection uses them. Only the first note
  /// counts.
  package mutating func note(of connection: OpaquePointer) {
    if wal != nil || (try? isInWALMode(connection)) != true { return }
    database = FileIdentity(path: path)
    wal = FileIdentity(path: walPath)
    guard let status = FileStatus(path: sharedMemoryPath) else { return isUnnamed = true }
    sharedMemory = status.identity
    sharedMemorySize = status.size
    openSharedMemory = SizedFile(path: sharedMemoryPath, status.identity)
    // If another connection of this process has a deleted -shm open, this connection uses that one too.
    isUnnamed = !status.identity.isMappedAsSharedMemory
  }

  /// The present state of the files. Takes two system calls.
  package var state: State {
    guard let wal else { return .same }
    if isUnnamed { return .replaced }
    let walNow = FileStatus(path: walPath)
    let sharedMemoryNow = FileIdentity(path: sharedMemoryPath)
    if walNow?.identity == wal, sharedMemoryNow == sharedMemory { return .same }
    // An empty -wal does not count, because readers create one.
    let isAnother = walNow.map { $0.identity != wal && $0.size > 0 } ?? false
    return isAnother || (sharedMemoryNow != nil && sharedMemoryNow != sharedMemory) ? .replaced : .deleted
  }
}

/// Files that must be closed before the database is opened again, because one of them was deleted or overwritten. All
/// connections of a process to one database share one mapping of the -shm: a connection that is opened while an older
/// one has a deleted -shm uses the deleted one, and shares no locks with writers that use the new one.
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
  /// before these are closed would apply it. On a busy machine their threads may not run for seconds.
  private static let longestUse = Nanoseconds.milliseconds(10_000)

  /// - Parameters:
  ///   - isEmptied: whether the WAL-index is empty, so that it is right for any -wal.
  ///   - isOverwritten: whether anything but SQLite has written to the database file.
  ///   - staleGeneration: see `FileContents`.
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

  /// Whether all connections have had enough time to close.
  package var isOverdue: Bool {
    let now = clock.now
    return now >= deadline && (isSettled || now >= deadline + Self.longestCopy)
  }

  /// Whether no program is writing over the file at present.
  private var isSettled: Bool { !isOverwritten || DiskState(path: files.path)?.isSettled != false }

  /// Whether a connection that is opened now gets the files that other processes have.
  package var mayOpen: Bool {
    if !isSettled { return false }
    if files.isUnnamed { return !files.isDeletedMapped }
    // SQLite identifies shared mappings by the database file, so a different database file is never affected.
    if FileIdentity(path: files.path) != files.database { return true }
    if files.sharedMemory?.isMappedAsSharedMemory != true { return true }
    // By now other programs may have opened the database and created new files.
    return FileIdentity(path: files.sharedMemoryPath) == files.sharedMemory && (isEmptied || isOverdue)
  }

  /// Empties a -wal that must not be applied to the file's new contents.
  func discardStaleLog() { if let staleGeneration { StaleLog.discard(staleGeneration, of: files) } }
}

func isInWALMode(_ connection: OpaquePointer) throws(SQLiteFailure) -> Bool {
  let mode = try PreparedStatement(connection, "PRAGMA main.journal_mode", isPersistent: false)
  return try mode.step() && mode.text(0) == "wal"
}
