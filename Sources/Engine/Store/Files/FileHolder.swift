package import Ground

/// A connection to a database file, as its holder sees it.
package protocol FileConnection {
  /// The file that was opened; nil when that is not known.
  var file: FileIdentity? { get }
  var files: WALFiles { get }
  /// Whether the WAL-index is empty, so that it goes with any -wal.
  var isEmptied: Bool { get }
  /// Whether anything but SQLite has written to the file. Once true, it stays true. Outside of transactions.
  var isOverwritten: Bool { get }
  /// See `FileContents`.
  var staleGeneration: UInt64? { get }
  /// Another connection of the process has found that the file was overwritten. Only a connection that has followed
  /// every commit can find it.
  func noteOverwritten(_ staleGeneration: UInt64?)
  /// The system has reported a write to the database file itself since the last look.
  func noteReportedWrite()
  /// Called before the connection is closed because the file has other contents, or other -wal and -shm files, than it
  /// shows.
  func noteStale()
  /// Whether another connection may fare better.
  var isUseless: Bool { get }
}

extension FileConnection {
  package var isEmptied: Bool { false }
  package var isUseless: Bool { false }
  package func noteStale() {}
}

/// One thread's connection to a file that others may replace, delete or lock.
/// All connections of a process to a database share one mapping of its -shm. After the -wal or -shm was deleted, every
/// holder of the process has to close its connection before any of them can open the new files; a holder that has
/// closed its connection notifies the others (`mustLook`), and waits for them for a second. The same holds after a
/// program has overwritten the file (`FileContents`): locks of connections that saw the former contents keep other
/// programs from the new ones.
/// Owner: one thread. Mutable state: `connection`; `lost`, the deleted files until the process has let go of them; the
/// last finding of another holder that it knows (`users`).
package final class FileHolder<Connection: FileConnection, Failure: Error> {
  @exclusivity(unchecked) package private(set) var connection: Connection?
  private var lost: LostFiles?
  private let path: String
  private let clock: MonotonicClock
  private let users: FileUsers?
  private let thread: (any Wakeable)?
  /// The last overwrite that the connection has seen.
  private var overwrite = FileUsers.Overwrite()
  /// How many times other connections had closed lost files when this one looked last.
  private var losses = 0
  /// How many writes to the database file had been reported when it was looked at last.
  private var reported = 0
  private let connect: () throws(Failure) -> Connection

  /// The file at the path, compared with the open connection.
  package enum Finding: Sendable {
    /// The file that is open, with its -wal and -shm.
    case same
    /// The -wal or -shm was deleted: the connection's files have no name any more.
    case filesLost
    /// The file that is open, but anything but SQLite has written to it.
    case overwritten
    /// A file that is not open, or not in a way that is of use.
    case another
    /// No file.
    case missing
  }

  /// - Parameters:
  ///   - users: the others of the process that have the file open; nil: it is judged alone.
  ///   - thread: what is woken when it has to look at the file.
  ///   - connect: opens the file that has the name.
  package init(
    path: String, clock: MonotonicClock = .system, users: FileUsers? = nil, thread: (any Wakeable)? = nil,
    connect: @escaping () throws(Failure) -> Connection
  ) {
    self.users = users
    self.path = path
    self.clock = clock
    self.connect = connect
    self.thread = thread
    if let thread { users?.add(thread) }
  }

  deinit { if let thread { users?.remove(thread) } }

  /// Outside of transactions. Five system calls.
  package var finding: Finding {
    losses = users?.lossCount ?? 0
    guard let file = FileIdentity(path: path) else { return .missing }
    guard let connection, connection.file == file, !connection.isUseless else { return .another }
    if connection.files.state != .same { return .filesLost }
    return isOverwritten(connection) ? .overwritten : .same
  }

  /// Whether another holder has closed lost files, so that this one has to check its own. One atomic load.
  package var mustLook: Bool { connection != nil && users.map { $0.lossCount != losses } == true }

  /// The same, and it has: its connection keeps others from the new ones. Then some system calls.
  package var mustLetGo: Bool { mustLook && [.filesLost, .overwritten].contains(finding) }

  /// A finding counts for all holders: those that have not followed every commit, or have not seen the write, cannot
  /// make it.
  private func isOverwritten(_ connection: Connection) -> Bool {
    guard let users else { return connection.isOverwritten }
    if users.hasOverwrite(after: overwrite) {
      overwrite = users.overwrite
      connection.noteOverwritten(overwrite.staleGeneration)
      return true
    }
    guard isFoundOverwritten(connection) else { return false }
    overwrite = users.noteOverwritten(connection.staleGeneration, after: overwrite)
    return true
  }

  /// As far as the connection can tell, with the writes that were reported.
  private func isFoundOverwritten(_ connection: Connection) -> Bool {
    if let writes = users?.watcher.contentsWrites, writes != reported {
      connection.noteReportedWrite()
      reported = writes
    }
    return connection.isOverwritten
  }

  /// Whether the connection is unusable, and a new one may work. Call it outside of transactions.
  package var isUseless: Bool { connection.map { $0.isUseless || isFoundOverwritten($0) } == true }

  /// Whether deleted files may still be in use by another connection of the process.
  package var isWaiting: Bool { lost != nil }
  /// Whether a connection that is opened now gets the files that everyone has.
  package var mayOpen: Bool { lost.map(\.mayOpen) ?? true }
  /// Whether the other connections have had the time to be closed.
  package var isOverdue: Bool { lost.map(\.isOverdue) ?? true }

  /// Waits until deleted files are out of use, for a second at most.
  ///
  /// - Returns: whether they are.
  package func waitForFiles() -> Bool {
    while !mayOpen {
      if isOverdue { return false }
      usleep(2_000)
    }
    return true
  }

  /// Opens the file that has the name, without taking it into use: see `adopt`.
  package func open() throws(Failure) -> Connection {
    lost?.discardStaleLog()
    lost = nil
    if let users { (overwrite, reported) = (users.overwrite, users.watcher.contentsWrites) }
    return try connect()
  }

  /// Takes an opened connection into use, in the place of the one before.
  package func adopt(_ connection: Connection) { self.connection = connection }

  /// Closes the connection. If its files were deleted or overwritten, the holder waits until they are out of use.
  package func close() {
    guard let connection else { return }
    // Its finding counts only for itself: the name may lead to another file by now, which others have open.
    let isOverwritten = isFoundOverwritten(connection)
    if isOverwritten || connection.files.state != .same {
      connection.noteStale()
      lost = LostFiles(
        connection.files, isEmptied: connection.isEmptied, isOverwritten: isOverwritten,
        staleGeneration: connection.staleGeneration, clock: clock)
    }
    self.connection = nil
    if lost != nil { users?.noteLoss() }
  }
}
