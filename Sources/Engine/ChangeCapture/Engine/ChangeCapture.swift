import CSQLite
import Ground

/// Finds which rows of which tables changed between two read transactions, by reading the pages that commits wrote.
///
/// Capture writes nothing to the file, and needs no cooperation from its writers. A tick is
///
///     prepare()   BEGIN   something is read   identify()   advance(…)   …   COMMIT
///
/// all of it on one connection. Rows that are looked up before the COMMIT belong to the same state as the changes. From
/// `prepare` to `advance` the capture holds the lock of the memory of the tables (`FileCapture`). All captures of a
/// file in a process share this memory: changes that one has found are there for the others. Without a WAL the lock is
/// held until `release`, after the COMMIT. Between ticks there is no transaction, because an open transaction keeps the
/// WAL from being reset.
///
/// **Which state a transaction sees.** SQLite does not say. `prepare` copies the header of the WAL-index before
/// `BEGIN`, and `identify` compares the copy after the first read. If the header is the same, the transaction sees
/// exactly that state: these salts and this last frame. Otherwise a commit came in between, and a new transaction is
/// begun (`freshet_capture_retries_total`).
///
/// **Which pages changed.** The frames from the last one seen to the state's last each name a page and hold its image.
/// Each frame's checksum continues the previous one, and the last must equal the header's. This proves that the frames
/// belong to this state and that no frame is missing (`WALFollower`).
///
/// **Which rows changed.** Usually only leaves were written: their rows are compared with the remembered ones. If
/// interior pages changed too, capture walks down the changed part of the tree, includes the rows of added and removed
/// leaves, and compares all rows as sets, so that a row that merely moved to another page cancels out. A page of a
/// table that is not followed costs a look-up.
///
/// **Rollback journals.** Without a WAL, only the change counter in the file's header says that something changed, so
/// every commit has the followed tables compared. This takes at most half of the time.
///
/// **The schema.** Page 1 holds its cookie. A table with the same definition and another root page is compared. A table
/// with another definition is read anew after `define` has described its records, and its queries are run again,
/// because `ADD COLUMN` changes the values of rows without changing their bytes.
///
/// **What cannot be followed.** If SQLite cannot write to the WAL-index and no writer keeps it up to date, SQLite makes
/// an index in its own memory, and only `data_version` says that something changed. Every commit then runs every query
/// again (`everyCommit`). The same happens if the WAL-index has another format. A table that cannot be read as a b-tree
/// is not followed: its queries run after every commit, and SQLite reports what is wrong. After each commit capture
/// tries to read it again.
///
/// Mutable state: the state seen last (`seen`), the state that the transaction sees (`current`), and whether this
/// capture holds the lock.
///
/// Owner: the thread that uses the connection.
package final class ChangeCapture {
  package struct Settings: Sendable {
    /// The most memory for all tables, in bytes. Above it the largest tables are followed by pages instead of rows.
    package var memoryLimit = 256 << 20
    /// The most pages that a tick reads of tables that were not read whole yet.
    package var pagesAtOnce = 512
    /// The most bytes of records in a tick.
    package var recordBytes = RecordArena.mostBytes

    package init() {}
  }

  let connection: OpaquePointer
  let settings: Settings
  let database: DatabaseFile
  let wal: DatabaseFile
  /// The memory of the file's tables, shared by all its captures.
  @exclusivity(unchecked) private(set) var file: FileCapture
  /// The memory that other captures share. A capture with a kept state starts apart, and joins them after its first
  /// tick.
  @exclusivity(unchecked) private(set) var joined: FileCapture?
  let cursor = CaptureCursor()
  @exclusivity(unchecked) private(set) var hasLock = false
  @exclusivity(unchecked) var index: SharedIndex?
  @exclusivity(unchecked) var contents: FileContents
  /// The header of the WAL-index before the transaction began: its bytes, and how they were decoded.
  @exclusivity(unchecked) var noted: SharedIndex.NotedHeader?
  /// The bytes of the WAL-index header of the state seen last.
  @exclusivity(unchecked) private(set) var seenHeader: SharedIndex.NotedHeader?
  @exclusivity(unchecked) var candidate: WALIndexHeader?
  /// The last tick stopped before the newest state, so the next tick should follow at once.
  @exclusivity(unchecked) package private(set) var hasEndedEarly = false
  /// The state that the transaction sees.
  @exclusivity(unchecked) var current = FileState.unknown
  @exclusivity(unchecked) private(set) var seen = FileState.unknown
  /// The name by which the state seen last is numbered; see `FileCapture.named`.
  @exclusivity(unchecked) private(set) var named = FileState.unknown
  /// The number of frames that are copied into the database file, from the WAL-index of the transaction's state.
  @exclusivity(unchecked) var backfilled: UInt32 = 0
  /// The number of times that frames were copied into the database file between two transactions, by any process.
  @exclusivity(unchecked) package private(set) var checkpoints = 0
  /// The copied frames of the state that was identified last.
  @exclusivity(unchecked) private var copied: (salts: UInt64, frames: UInt32, areAll: Bool)?
  /// The states that ticks went to or through, the newest last.
  @exclusivity(unchecked) private var passed = RecentStates()
  /// The schema has changed and `define` was not called yet. Until then every tick reports the change.
  @exclusivity(unchecked) var mustDefine = false
  /// This capture's numbers of tables, by their numbers in `file`, for tables where the two differ.
  @exclusivity(unchecked) var ownNumbers: [Int: Int] = [:]
  /// Whether it has started from a kept state.
  package let isRestored: Bool
  @exclusivity(unchecked) var retries = 0

  /// - Parameters:
  ///   - connection: an `sqlite3 *` that stays open for as long as this is used.
  ///   - captures: the captures of this file in this process; nil if this one shares nothing.
  ///   - state: a kept state, perhaps of another process: its tables are followed, and the first tick reports their
  ///     changes since then. A state of another file is ignored (`isRestored`).
  package init(
    _ connection: OpaquePointer, _ settings: Settings = Settings(), sharing captures: FileCaptures? = nil,
    restoring state: CaptureState? = nil
  ) {
    self.connection = connection
    self.settings = settings
    let database = DatabaseFile(.database, of: connection)
    self.database = database
    wal = DatabaseFile(.wal, of: connection)
    contents = FileContents(of: connection)
    let shared = captures?.capture(of: connection, settings)
    let state = state.flatMap { CaptureState.FileMark(connection, database) == $0.file ? $0 : nil }
    isRestored = state != nil
    file = state == nil ? shared ?? FileCapture(connection, settings) : FileCapture(connection, settings)
    if let state {
      joined = shared
      file.restore(state)
      for table in file.tables.values { cursor.wishes[table.number] = table.summary.layout.remembered }
    }
    locked {
      file.captures += 1
      joined?.captures += 1
      file.ticks.add(cursor)
    }
  }

  func noteCopied(_ frames: UInt32, of header: WALIndexHeader) {
    if let copied {
      // A WAL starts over only when all its frames are copied.
      let isCheckpoint = copied.salts == header.salts ? frames > copied.frames : frames > 0 || !copied.areAll
      if isCheckpoint { checkpoints += 1 }
    }
    copied = (header.salts, frames, frames >= header.frameCount)
  }

  deinit {
    lock()
    file.ticks.remove(cursor)
    file.leave()
    joined?.leave()
    unlock()
  }

  // MARK: - The lock

  func lock() {
    if hasLock { return }
    hasLock = true
    file.lock.lock()
    joined?.lock.lock()
  }

  private func unlock() {
    if !hasLock { return }
    hasLock = false
    joined?.lock.unlock()
    file.lock.unlock()
  }

  /// Releases the lock that `prepare` took, if `advance` did not. To be called after the transaction.
  package func release() { unlock() }

  func locked<Result>(_ body: () -> Result) -> Result {
    let mustUnlock = !hasLock
    lock()
    defer { if mustUnlock { unlock() } }
    return body()
  }

  // MARK: - Ticks

  /// Advances to the state that the transaction sees, and returns what changed since the state seen last. Reads only
  /// frames that no other capture has read. Never fails: changes that are not known row by row are reported as unknown.
  /// Releases the lock if the file has a WAL.
  ///
  /// - Parameters:
  ///   - states: states in between that other connections have read, in any order. If the tick can go through such a
  ///     state (`hasPassed`), rows that changed before it and changed back after it are reported too.
  ///   - throughCommits: whether to go through the state of each commit whose frames still exist.
  ///   - keepsLock: whether the lock is released later (`release`), so that tables can be read in the same state.
  package func advance(
    through states: [StateName] = [], throughCommits: Bool = false, keepsLock: Bool = false
  ) -> CapturedTick {
    lock()
    // Without a WAL the lock is kept: a writer waits for the end of the transaction, and a holder of the lock must not
    // wait for that writer.
    defer { if !keepsLock, index != nil { unlock() } }
    if case .hidden = current { part() }
    cursor.wantsCommits = throughCommits
    file.use(self)
    let restored = file.restored?.state
    file.advance(through: states, throughCommits: file.ticks.areByCommit)
    hasEndedEarly = file.hasEndedEarly
    if let restored { seen = restored }
    var tick = take()
    join()
    seen = file.seen
    named = file.named
    current = seen
    passed.add(seen)
    seenHeader = hasEndedEarly ? nil : noted
    if let index { contents.noteProgress(index) }
    tick.hasSchemaChanged = tick.hasSchemaChanged || mustDefine
    mustDefine = tick.hasSchemaChanged
    return tick
  }

  /// Whether a recent tick has gone to a state or through it. If so, everything that changed since is in the ticks
  /// since.
  package func hasPassed(_ state: StateName) -> Bool { passed.contains(state) }

  /// The file's ticks that this capture has not taken, combined into one.
  private func take() -> CapturedTick {
    var tick = CapturedTick()
    defer {
      file.ticks.pass(cursor)
      for stop in tick.stops { passed.add(stop.state.state) }
    }
    if seen.isUnknown {
      (tick.isFirst, tick.hasSchemaChanged) = (true, true)
      return tick
    }
    if let ticks = file.ticks.left(cursor) {
      for next in ticks { tick.add(next, cursor, ownNumber) }
    } else {
      tick.commits = current.commits(since: seen)
      tick.hasSchemaChanged = file.ticks.hasSchemaChanged(since: cursor)
      if !cursor.wishes.isEmpty { tick.comparison = .behind }
      cursor.unknown.formUnion(cursor.wishes.keys)
    }
    for number in cursor.unknown where cursor.wishes[number] != nil {
      tick.deltas.append((ownNumber(number), .unknown))
    }
    cursor.unknown = []
    return tick
  }

  /// Joins the other captures of the file, now that all see the same state.
  private func join() {
    guard let shared = joined, !hasEndedEarly else { return }
    joined = nil
    shared.use(self)
    shared.advance(through: [], throughCommits: shared.ticks.areByCommit)
    let before = file
    var wishes: [Int: [Int]] = [:]
    for (number, table) in before.tables {
      let now = shared.take(table)
      wishes[now] = cursor.wishes[number]
      if now != number { ownNumbers[now] = number }
    }
    shared.statistics.add(before.statistics)
    shared.keepWithinMemory()
    before.ticks.remove(cursor)
    before.leave()
    cursor.wishes = wishes
    file = shared
    file.ticks.add(cursor)
    before.lock.unlock()
  }

  /// Stops sharing the memory, because states without a shared WAL-index are counted by each connection for itself.
  private func part() {
    joined?.leave()
    joined?.lock.unlock()
    joined = nil
    if file.ticks.hasOneReader { return }
    let shared = file
    file = FileCapture(connection, settings, hasher: shared.hasher)
    file.seen = seen
    file.named = named
    file.captures = 1
    file.lock.lock()
    for (number, fields) in cursor.wishes {
      if let table = shared.tables[number] { file.add(table.copy(remembering: fields, file.packer)) }
    }
    shared.ticks.remove(cursor)
    for number in cursor.wishes.keys { shared.unfollow(number) }
    shared.leave()
    shared.lock.unlock()
    file.ticks.add(cursor)
  }
}
