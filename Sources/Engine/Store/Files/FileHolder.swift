package import Ground

/// A connection to a database file, as `FileHolder` needs it.
package protocol FileConnection {
  /// The identity of the file that was opened; nil if it is unknown.
  var file: FileIdentity? { get }
  var files: WALFiles { get }
  /// Whether the WAL-index is empty, so that it is right for any -wal.
  var isEmptied: Bool { get }
  /// Whether anything but SQLite has written to the file. Once true, it stays true. To be read outside of transactions.
  var isOverwritten: Bool { get }
  /// See `FileContents`.
  var staleGeneration: UInt64? { get }
  /// Called when another connection of the process has found that the file was overwritten. Only a connection that has
  /// followed every commit can find that.
  func noteOverwritten(_ staleGeneration: UInt64?)
  /// Called when the system has reported a write to the database file since the last check.
  func noteReportedWrite()
  /// Called before the connection is closed because it shows other contents, or has other -wal and -shm files, than the
  /// file has now.
  func noteStale()
  /// Whether this connection cannot be used, and a new one may work.
  var isUseless: Bool { get }
}

extension FileConnection {
  package var isEmptied: Bool { false }
  package var isUseless: Bool { false }
  package func noteStale() {}
}

/// One thread's connection to a file that others may replace, delete or lock. All connections of a process to a
/// database share one mapping of its -shm. After the -wal or -shm was deleted, all holders of the process must close
/// their connections before any of them can open the new files. A holder that has closed its connection notifies the
/// others (`mustLook`), and waits up to a second for them. The same holds after a program has overwritten the file
/// (`FileContents`): the locks of connections that saw the former contents keep other programs from using the new ones.
/// Owner: one thread. Mutable state: `connection`; `lost`, deleted files that the process may still have open; and the
/// last finding of another holder (`users`) that this one knows.
package final class FileHolder<Connection: FileConnection, Failure: Error> {
  @exclusivity(unchecked) package private(set) var connection: Connection?
  private var lost: LostFiles?
  private let path: String
  private let clock: MonotonicClock
  private let users: FileUsers?
  private let thread: (any Wakeable)?
  /// The last overwrite that the connection knows of.
  private var overwrite = FileUsers.Overwrite()
  /// The value of `users.lossCount` when this holder last checked its files.
  private var losses = 0
  /// The number of reported writes to the database file when it was last checked.
  private var reported = 0
  private let connect: () throws(Failure) -> Connection

  /// The result of comparing the file at the path with the open connection.
  package enum Finding: Sendable {
    /// The path leads to the open file, and the -wal and -shm are those of the connection.
    case same
    /// The -wal or -shm was deleted, so the connection's files have no name any more.
    case filesLost
    /// The path leads to the open file, but anything but SQLite has written to it.
    case overwritten
    /// The path leads to a file that is not open, or that the connection cannot use.
    case another
    /// There is no file at the path.
    case missing
  }

  /// - Parameters:
  ///   - users: shared by all holders of the file in the process; nil if there are no others.
  ///   - thread: the thread to wake when this holder must check the file.
  ///   - connect: opens the file at the path.
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

  /// The present finding. To be read outside of transactions. Takes five system calls.
  package var finding: Finding {
    losses = users?.lossCount ?? 0
    guard let file = FileIdentity(path: path) else { return .missing }
    guard let connection, connection.file == file, !connection.isUseless else { return .another }
    if connection.files.state != .same { return .filesLost }
    return isOverwritten(connection) ? .overwritten : .same
  }

  /// Whether another holder has closed lost files, so that this one must check its own. Takes one atomic load.
  package var mustLook: Bool { connection != nil && users.map { $0.lossCount != losses } == true }

  /// Whether, in addition, this holder's files are lost, so that its connection keeps others from opening the new ones.
  /// Takes some system calls if `mustLook`.
  package var mustLetGo: Bool { mustLook && [.filesLost, .overwritten].contains(finding) }

  /// Whether any holder has found the file overwritten. The finding counts for all of them, because holders that have
  /// not followed every commit, or have not seen the write, cannot find it.
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

  /// Whether the connection itself finds the file overwritten. Passes on the writes that were reported.
  private func isFoundOverwritten(_ connection: Connection) -> Bool {
    if let writes = users?.watcher.contentsWrites, writes != reported {
      connection.noteReportedWrite()
      reported = writes
    }
    return connection.isOverwritten
  }

  /// Whether the connection cannot be used, and a new one may work. To be read outside of transactions.
  package var isUseless: Bool { connection.map { $0.isUseless || isFoundOverwritten($0) } == true }

  /// Whether deleted files may still be in use by another connection of the process.
  package var isWaiting: Bool { lost != nil }
  /// Whether a connection that is opened now gets the same files as other processes.
  package var mayOpen: Bool { lost.map(\.mayOpen) ?? true }
  /// Whether the other connections have had enough time to close.
  package var isOverdue: Bool { lost.map(\.isOverdue) ?? true }

  /// Waits until no connection of the process uses the deleted files, at most for a second.
  ///
  /// - Returns: false if some still do.
  package func waitForFiles() -> Bool {
    while !mayOpen {
      if isOverdue { return false }
      usleep(2_000)
    }
    return true
  }

  /// Opens the file at the path, without using the connection yet: see `adopt`.
  package func open() throws(Failure) -> Connection {
    lost?.discardStaleLog()
    lost = nil
    if let users { (overwrite, reported) = (users.overwrite, users.watcher.contentsWrites) }
    return try connect()
  }

  /// Uses an opened connection from now on, instead of the previous one.
  package func adopt(_ connection: Connection) { self.connection = connection }

  /// Closes the connection. If its files were deleted or overwritten, they are waited for before a new connection is
  /// opened.
  package func close() {
    guard let connection else { return }
    // This finding is not passed to other holders, because they may have a different file open that has the name by
    // now.
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
