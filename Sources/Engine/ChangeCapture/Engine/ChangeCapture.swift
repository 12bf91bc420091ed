import CSQLite
import Ground

/// Finds which rows of which tables changed between two read transactions, by reading the pages that commits wrote.
///
/// Nothing is written to the file, and nothing is asked of its writers. A tick is
///
///     prepare()   BEGIN   something is read   identify()   advance(…)   …   COMMIT
///
/// all of it on one connection; what is looked up before the COMMIT is of the same state as the changes. From `prepare`
/// to `advance` the capture has the lock of what is remembered (`FileCapture`), which all captures of a file in a
/// process share: what one has found the others take. Without a WAL it is held until `release`, after the COMMIT.
/// Between ticks there is no transaction: one that is held open keeps the WAL from being reset.
///
/// **Which state a transaction sees.** SQLite does not say. `prepare` copies the header of the WAL-index before
/// `BEGIN`, and `identify` compares it once something was read. If it is the same, the transaction sees exactly that
/// state: the salts and the last frame. Otherwise a commit came in between, and the transaction is begun anew
/// (`freshet_capture_retries_total`).
///
/// **Which pages changed.** The frames from the last one seen to the state's last each name a page and hold its image.
/// Each frame's checksum continues the one before, and the last has to be the header's: this proves that these are the
/// frames of this state and that none is missing (`WALFollower`).
///
/// **Which rows changed.** Usually only leaves were written: their rows are compared with the remembered ones. When
/// interior pages changed too, capture walks down the changed part of the tree, counts leaves that came and went with
/// their rows, and compares all rows as sets, so that a row that merely moved to another page cancels out. Pages of
/// tables that are not followed cost a look-up.
///
/// **Rollback journals.** Without a WAL, only the change counter in the file's header says that something changed, so
/// every commit has the followed tables compared, for half of the time at most.
///
/// **The schema.** Page 1 holds its cookie. A table with the same definition and another root page is compared. One
/// with another definition is read anew after `define` has described its records, and its queries are run again,
/// because `ADD COLUMN` changes the values of rows without changing their bytes.
///
/// **What cannot be followed.** Where SQLite cannot write to the WAL-index and no writer keeps it up to date, SQLite
/// makes an index in its own memory, and only `data_version` says that something changed: every commit then runs every
/// query again (`everyCommit`), and so it does when the WAL-index has another format. A table that cannot be read as a
/// b-tree is not followed; queries on it run after every commit, and SQLite itself reports what is wrong. Each commit
/// is another try.
///
/// Mutable state: the state seen last (`seen`), the one that the transaction sees (`current`), whether it has the lock.
///
/// Owner: the thread that uses the connection.
package final class ChangeCapture {
  package struct Settings: Sendable {
    /// Limit for what is remembered of all tables, in bytes. Beyond it the largest tables are followed by pages instead
    /// of rows.
    package var memoryLimit = 256 << 20
    /// How many pages of tables that are not read yet a tick reads.
    package var pagesAtOnce = 512
    /// How many bytes of records a tick hands on.
    package var recordBytes = RecordArena.mostBytes

    package init() {}
  }

  let connection: OpaquePointer
  let settings: Settings
  let database: DatabaseFile
  let wal: DatabaseFile
  /// The memory of the file's tables, shared by all its captures.
  @exclusivity(unchecked) private(set) var file: FileCapture
  /// The memory of other captures, joined after the first tick, which starts from a kept state.
  @exclusivity(unchecked) private(set) var joined: FileCapture?
  let cursor = CaptureCursor()
  @exclusivity(unchecked) private(set) var hasLock = false
  @exclusivity(unchecked) var index: SharedIndex?
  @exclusivity(unchecked) var contents: FileContents
  /// The header before the transaction began, as it was and as it was read.
  @exclusivity(unchecked) var noted: SharedIndex.NotedHeader?
  /// That of the state seen last.
  @exclusivity(unchecked) private(set) var seenHeader: SharedIndex.NotedHeader?
  @exclusivity(unchecked) var candidate: WALIndexHeader?
  /// The last tick stopped before the newest state: another one should follow at once.
  @exclusivity(unchecked) package private(set) var hasEndedEarly = false
  /// The state that the transaction sees.
  @exclusivity(unchecked) var current = FileState.unknown
  @exclusivity(unchecked) private(set) var seen = FileState.unknown
  /// See `FileCapture`.
  @exclusivity(unchecked) private(set) var named = FileState.unknown
  /// The number of frames that are copied into the database file, from the WAL-index of the transaction's state.
  @exclusivity(unchecked) var backfilled: UInt32 = 0
  /// The number of times that frames were copied into the database file between two transactions, by any process.
  @exclusivity(unchecked) package private(set) var checkpoints = 0
  /// The copied frames of the state that was identified last.
  @exclusivity(unchecked) private var copied: (salts: UInt64, frames: UInt32, areAll: Bool)?
  /// The states that ticks went to or through, the newest last.
  @exclusivity(unchecked) private var passed = RecentStates()
  /// Set from a change of the schema until `define` is called: ticks report the change meanwhile.
  @exclusivity(unchecked) var mustDefine = false
  /// By the number that a table has in `file`, the one that it has here, where these differ.
  @exclusivity(unchecked) var ownNumbers: [Int: Int] = [:]
  /// Whether it goes on from a state that was kept.
  package let isRestored: Bool
  @exclusivity(unchecked) var retries = 0

  /// - Parameters:
  ///   - connection: an `sqlite3 *` that stays open for as long as this is used.
  ///   - captures: those of the process of this file; nil: nothing is shared.
  ///   - state: a kept state, perhaps of another process: its tables are followed, and the first tick reports their
  ///     changes since. If it is of another file, it is ignored (`isRestored`).
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

  /// Gives back the lock that `prepare` took, if `advance` has not. To be called after the transaction.
  package func release() { unlock() }

  func locked<Result>(_ body: () -> Result) -> Result {
    let mustUnlock = !hasLock
    lock()
    defer { if mustUnlock { unlock() } }
    return body()
  }

  // MARK: - Ticks

  /// Goes to the state that the transaction sees, and returns what changed since the state seen last. Reads the frames
  /// that no other capture has read. Never fails: changes that are not known row by row are reported as unknown. Gives
  /// the lock back where the file has a WAL.
  ///
  /// - Parameters:
  ///   - states: which others have read in between, in any order. Rows that changed before one of them and changed back
  ///     after it are reported, if the tick can go through it (`hasPassed`).
  ///   - throughCommits: whether to go through the state of each commit, as far as their frames are there.
  ///   - keepsLock: whether the lock is given back later (`release`), so that tables can be read in the same state.
  package func advance(
    through states: [StateName] = [], throughCommits: Bool = false, keepsLock: Bool = false
  ) -> CapturedTick {
    lock()
    // Without a WAL a writer waits for the transaction, so no holder of the lock may wait for that writer.
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

  /// Whether a tick has gone to a state or through it, not long ago: what ticks have reported since then is all that
  /// has changed since.
  package func hasPassed(_ state: StateName) -> Bool { passed.contains(state) }

  /// The file's ticks since the last time, as one.
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
    before.ticks.remove(cursor)
    before.leave()
    cursor.wishes = wishes
    file = shared
    file.ticks.add(cursor)
    before.lock.unlock()
  }

  /// Each connection counts the states that it sees by itself: nothing can be shared.
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
