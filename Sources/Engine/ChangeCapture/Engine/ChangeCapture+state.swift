import CSQLite

// Which state a transaction sees.
extension ChangeCapture {
  /// Whether the file may be in another state than the one seen last. Outside of transactions, without a lock; in WAL
  /// mode without a system call.
  package var hasMoved: Bool {
    if let index, let seenHeader { return index.differs(from: seenHeader) }
    if case .journal(let state) = seen { return (try? JournalState(database)) != state }
    return true
  }

  /// Whether asking `hasMoved` costs next to nothing.
  package var canAskOften: Bool { index != nil }

  /// Whether there has been a tick.
  package var hasSeenState: Bool { !seen.isUnknown }

  /// Whether the state that was identified last is one of a WAL.
  package var usesWAL: Bool {
    switch current {
    case .wal, .hidden: true
    case .journal, .unknown: false
    }
  }

  /// Whether whole tables are compared, as there is no WAL.
  package var comparesTables: Bool { if case .wal = seen { false } else { true } }

  /// To be called before the transaction begins. Takes the lock, which `advance` gives back, or without a WAL
  /// `release`.
  package func prepare() {
    lock()
    note()
    file.use(self)
    file.readAhead(candidate)
  }

  /// As above, for a transaction that must see the last state and makes no `advance`.
  package func note() {
    noted = index?.note()
    candidate = index?.header()
  }

  /// Finds out which state the transaction sees, in which something was read already.
  ///
  /// - Returns: false when that is not known, because a commit came meanwhile: the transaction must be ended and begun
  ///   anew.
  /// - Throws: when the file cannot be read.
  package func identify() throws(Doubt) -> Bool {
    defer { contents.noteSnapshot(index) }
    guard let index else { return try identifyWithoutIndex() }
    guard let candidate else { return giveUp() }
    // In this order: a checkpoint that comes after the first read cannot be taken for one before.
    backfilled = index.backfilled()
    guard index.header() == candidate else { return giveUp() }
    noteCopied(backfilled, of: candidate)
    if candidate.version != WALIndexHeader.knownVersion {
      current = .hidden(dataVersion)
    } else {
      current = .wal(candidate, isBackfilled: backfilled >= candidate.frameCount)
    }
    return true
  }

  /// After `identify`: whether the transaction sees the state that `advance` went to last, with pages in the same
  /// places.
  package var isAtSeenState: Bool { current.isSame(as: seen) && current.isBackfilled == seen.isBackfilled }

  /// The state that the transaction sees, as another connection to the file would name it.
  package var state: StateName { StateName(state: current) }

  /// The state that `advance` reached last, under the name by which all captures of the file number it.
  package var numberedState: StateName { StateName(state: named) }

  /// The state that `advance` went to last.
  package var seenState: StateName { StateName(state: seen) }

  /// Whether the file has a rollback journal, in the state that `advance` went to last; nil: not known.
  package var hasRollbackJournal: Bool? {
    switch seen {
    case .wal: false
    case .journal: seen.isEmpty ? nil : true
    case .unknown, .hidden: nil
    }
  }

  private func giveUp() -> Bool {
    retries += 1
    return false
  }

  private func identifyWithoutIndex() throws(Doubt) -> Bool {
    let state = try JournalState(database)
    // A -wal next to a file that is not in WAL mode, left by another file of its name, makes SQLite use it anyway.
    if !state.isWAL, DatabaseFile.pointer(connection, SQLITE_FCNTL_JOURNAL_POINTER) == nil {
      current = .journal(state)
      return true
    }
    index = SharedIndex(of: connection)
    // The header has to be read before the transaction begins.
    if index != nil { return false }
    current = .hidden(dataVersion)
    return true
  }

  /// SQLite's own count of the states that this connection has seen.
  private var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Identifies the newest state without a transaction, where `advance` can go to it by frames alone. Takes the lock,
  /// which `advance`, or the transaction that is needed after all, gives back.
  ///
  /// - Returns: the numbers of the tables that have changed; nil: a transaction is needed.
  package func identifyFromFrames() -> [Int]? {
    guard let index, hasSeenState, joined == nil, !mustDefine else { return nil }
    prepare()
    file.framesRead = nil
    let copied = index.backfilled()
    guard let header = candidate, index.header() == header, let left = file.ticks.left(cursor),
      !left.contains(where: \.hasSchemaChanged), case .wal(let ahead, _) = file.seen,
      let changed = changed(ahead, header, copied)
    else { return nil }
    backfilled = copied
    noteCopied(copied, of: header)
    current = .wal(header, isBackfilled: false)
    file.use(self)
    file.pages.readsFramesAlone = true
    var numbers: [Int] = []
    for tick in left { for delta in tick.deltas { note(delta.table, &numbers) } }
    for table in changed { note(table, &numbers) }
    return numbers
  }

  /// Adds the number that a table has here, if it is followed.
  private func note(_ table: Int, _ numbers: inout [Int]) {
    guard cursor.wishes[table] != nil else { return }
    let number = ownNumber(table)
    if !numbers.contains(number) { numbers.append(number) }
  }

  /// The tables that changed between a state that another capture has gone to and the newest one; nil: a transaction is
  /// needed.
  private func changed(_ ahead: WALIndexHeader, _ header: WALIndexHeader, _ copied: UInt32) -> [Int]? {
    if ahead != header { return file.readFramesAlone(to: header, copied: copied) }
    if case .wal(let before, _) = seen { return before == header ? nil : [] }
    return nil
  }

  /// A transaction is needed after all. (What was read of the frames is of use if it sees the same state.)
  package func returnToSeenState() {
    current = seen
    if hasLock { file.pages.readsFramesAlone = false }
  }
}
