import CSQLite

// Finds which state a transaction sees.
extension ChangeCapture {
  /// Whether the file may be in another state than the one seen last. To be called outside of transactions; needs no
  /// lock, and no system call in WAL mode.
  package var hasMoved: Bool {
    if let index, let seenHeader { return index.differs(from: seenHeader) }
    if case .journal(let state) = seen { return (try? JournalState(database)) != state }
    return true
  }

  /// Whether `hasMoved` takes so little time that it may be read often.
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

  /// Whether each commit has whole tables compared, because there is no WAL.
  package var comparesTables: Bool { if case .wal = seen { false } else { true } }

  /// To be called before the transaction begins. Takes the lock. `advance` releases it, or `release` if there is no
  /// WAL.
  package func prepare() {
    lock()
    note()
    file.use(self)
    file.readAhead(candidate)
  }

  /// As above, for a transaction that must see the last state and does not call `advance`.
  package func note() {
    noted = index?.note()
    candidate = index?.header()
  }

  /// Finds out which state the transaction sees. The transaction must have read something already.
  ///
  /// - Returns: false if a commit came since `prepare`, so that the state is unknown: the transaction must be ended,
  ///   and a new one begun.
  /// - Throws: if the file cannot be read.
  package func identify() throws(Doubt) -> Bool {
    defer { contents.noteSnapshot(index) }
    guard let index else { return try identifyWithoutIndex() }
    guard let candidate else { return giveUp() }
    // The copied frames are read here because the transaction has begun: a checkpoint after its first read must not be
    // mistaken for an earlier one.
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

  /// Whether the transaction sees the state that `advance` went to last, with its pages still in the same files. To be
  /// called after `identify`.
  package var isAtSeenState: Bool { current.isSame(as: seen) && current.isBackfilled == seen.isBackfilled }

  /// The state that the transaction sees, as another connection to the file would name it.
  package var state: StateName { StateName(state: current) }

  /// The state that `advance` reached last, under the name by which all captures of the file number it.
  package var numberedState: StateName { StateName(state: named) }

  /// The state that `advance` went to last.
  package var seenState: StateName { StateName(state: seen) }

  /// Whether the file has a rollback journal, in the state that `advance` went to last; nil if unknown.
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
    // If a -wal file of an earlier database is next to a database that is not in WAL mode, SQLite still uses it.
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

  /// SQLite's count of the states that this connection has seen.
  private var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Identifies the newest state without a transaction, if `advance` can reach it by reading frames alone. Takes the
  /// lock. `advance` releases it, or the end of the transaction if one is needed after all.
  ///
  /// - Returns: the numbers of the tables that have changed; nil if a transaction is needed.
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

  /// Adds this capture's number of a table, if the capture follows the table.
  private func note(_ table: Int, _ numbers: inout [Int]) {
    guard cursor.wishes[table] != nil else { return }
    let number = ownNumber(table)
    if !numbers.contains(number) { numbers.append(number) }
  }

  /// The tables that changed between the state that another capture has reached and the newest one; nil if a
  /// transaction is needed.
  private func changed(_ ahead: WALIndexHeader, _ header: WALIndexHeader, _ copied: UInt32) -> [Int]? {
    if ahead != header { return file.readFramesAlone(to: header, copied: copied) }
    if case .wal(let before, _) = seen { return before == header ? nil : [] }
    return nil
  }

  /// Called when a transaction is needed after all. The frames that were read are used if the transaction sees the same
  /// state.
  package func returnToSeenState() {
    current = seen
    if hasLock { file.pages.readsFramesAlone = false }
  }
}
