import CSQLite

/// Finds which rows of which tables changed between two read transactions, by reading the pages that commits wrote.
///
/// Nothing is written to the file, and nothing is asked of its writers. A tick is
///
///     prepare()   BEGIN   something is read   identify()   advance(…)   …   COMMIT
///
/// all of it on one connection; what is looked up before the COMMIT is of the same state as the changes. Between ticks there is
/// no transaction: one that is held open keeps the WAL from being reset.
///
/// **Which state a transaction sees.** SQLite does not say. `prepare` copies the header of the WAL-index before `BEGIN`, and
/// `identify` compares it once something was read. If it is the same, the transaction sees exactly that state: the salts and the last
/// frame. Otherwise a commit came in between, and the transaction is begun anew (`freshet_capture_retries_total`).
///
/// **Which pages changed.** The frames from the last one seen to the state's last each name a page and hold its image. Each frame's
/// checksum continues the one before, and the last has to be the header's: this proves that these are the frames of this state and
/// that none is missing (`WALFollower`).
///
/// **Which rows changed.** Usually only leaves were written: their rows are compared with the remembered ones. When interior pages
/// changed too, capture walks down the changed part of the tree, counts leaves that came and went with their rows, and compares all
/// rows as sets, so that a row that merely moved to another page cancels out. Pages of tables that are not followed cost a look-up.
///
/// **Rollback journals.** Without a WAL, only the change counter in the file's header says that something changed, so every commit has
/// the followed tables compared, for half of the time at most.
///
/// **The schema.** Page 1 holds its cookie. A table with the same definition and another root page is compared. One with another
/// definition is read anew and its queries run again, because `ADD COLUMN` changes the values of rows without changing their bytes.
///
/// **What cannot be followed.** Where SQLite cannot write to the WAL-index and no writer keeps it up to date, SQLite makes an index in
/// its own memory, and only `data_version` says that something changed: every commit then runs every query again (`everyCommit`), and
/// so it does when the WAL-index has another format. A table that cannot be read as a b-tree is not followed; queries on it run after
/// every commit, and SQLite itself reports what is wrong. Each commit is another try.
///
/// Mutable state: the state seen last (`seen`), what is remembered of each followed table, where pages are (`pages`).
///
/// Owner: the thread that uses the connection.
package final class ChangeCapture {
  package struct Settings: Sendable {
    /// What may be remembered of all tables, in bytes. Beyond it the largest are followed by pages instead of rows.
    package var memoryLimit = 256 << 20
    /// How many pages of tables that are not read yet a tick reads.
    package var pagesAtOnce = 512
    /// How many bytes of records a tick hands on.
    package var recordBytes = RecordArena.mostBytes

    package init() {}
  }

  let connection: OpaquePointer
  private let settings: Settings
  let packer: RowPacker
  let reader = FrameReader()
  /// What `reader` has read of the state that is identified.
  @exclusivity(unchecked) var framesRead: FramesRead?
  /// Of the present tick.
  private let records: RecordArena
  let pages: SnapshotPages<DatabaseFile, DatabaseFile>
  @exclusivity(unchecked) var index: SharedIndex?
  @exclusivity(unchecked) var contents: FileContents
  /// The header before the transaction began, as it was and as it was read.
  @exclusivity(unchecked) private var noted: SharedIndex.NotedHeader?
  /// That of the state seen last.
  @exclusivity(unchecked) private var seenHeader: SharedIndex.NotedHeader?
  @exclusivity(unchecked) var candidate: WALIndexHeader?
  /// The last tick did not come to the newest state: another one should follow at once.
  @exclusivity(unchecked) package private(set) var hasEndedEarly = false
  /// The state that the transaction sees.
  @exclusivity(unchecked) var current = FileState.unknown
  @exclusivity(unchecked) var seen = FileState.unknown
  /// What the WAL-index says of the state that the transaction sees: how many frames are in the database file.
  @exclusivity(unchecked) var backfilled: UInt32 = 0
  /// Where that was found to be wrong.
  @exclusivity(unchecked) var misled = MisledGeneration()
  /// The states that ticks went to or through, the newest last.
  @exclusivity(unchecked) var passed = RecentStates()
  /// The cookie of the schema that was read last; nil: it has to be read again.
  @exclusivity(unchecked) var schemaCookie: UInt32?
  @exclusivity(unchecked) var tables: [Int: FollowedTable] = [:]
  /// What was kept by another process, until the first tick.
  @exclusivity(unchecked) var restored: CaptureState?
  @exclusivity(unchecked) private var numberOfName: [String: Int] = [:]
  @exclusivity(unchecked) private var nextNumber = 0
  /// Whether it goes on from a state that was kept.
  package private(set) var isRestored = false
  @exclusivity(unchecked) package private(set) var statistics = CaptureStatistics()

  /// - Parameter connection: an `sqlite3 *` that stays open for as long as this is used.
  package init(_ connection: OpaquePointer, _ settings: Settings = Settings(), hasher: PayloadHasher = PayloadHasher())
  {
    self.connection = connection
    self.settings = settings
    packer = RowPacker(hasher: hasher)
    records = RecordArena(limit: settings.recordBytes)
    pages = SnapshotPages(
      database: DatabaseFile(.database, of: connection), wal: DatabaseFile(.wal, of: connection))
    contents = FileContents(of: connection)
  }

  /// Goes on from a state that was kept, perhaps by another process: its tables are followed, and the first tick reports what changed in
  /// them since. Where it is of another file, nothing is known, as without it (`isRestored`).
  package convenience init(
    _ connection: OpaquePointer, _ settings: Settings = Settings(), restoring state: CaptureState
  ) {
    self.init(connection, settings, hasher: state.hasher)
    isRestored = restore(state)
  }

  /// The name under which the file was opened.
  var databasePath: String? { sqlite3_db_filename(connection, "main").map { String(cString: $0) } }

  // MARK: - Which state

  /// Whether the file may be in another state than the one seen last. Outside of transactions, without a lock; in WAL mode
  /// without a system call.
  package var hasMoved: Bool {
    if let index, let seenHeader { return index.differs(from: seenHeader) }
    if case .journal(let state) = seen { return (try? JournalState(pages.database)) != state }
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

  /// To be called before the transaction begins.
  package func prepare() {
    noted = index?.note()
    candidate = index?.header()
    readAhead()
  }

  /// Finds out which state the transaction sees, in which something was read already.
  ///
  /// - Returns: false when that is not known, because a commit came meanwhile: the transaction must be ended and begun anew.
  /// - Throws: when the file cannot be read.
  package func identify() throws(Doubt) -> Bool {
    defer { contents.noteSnapshot(index) }
    guard let index else { return try identifyWithoutIndex() }
    guard let candidate else { return giveUp() }
    // In this order: a checkpoint that comes after the first read cannot be taken for one before.
    backfilled = index.backfilled()
    guard index.header() == candidate else { return giveUp() }
    if candidate.version != WALIndexHeader.knownVersion {
      current = .hidden(dataVersion)
    } else {
      current = .wal(candidate, isBackfilled: backfilled >= candidate.frameCount)
    }
    return true
  }

  /// After `identify`: whether the transaction sees the state that `advance` went to last, with pages in the same places.
  package var isAtSeenState: Bool { current.isSame(as: seen) && current.isBackfilled == seen.isBackfilled }

  /// The state that the transaction sees, as another connection to the file would name it.
  package var state: StateName { StateName(state: current) }

  /// The state that `advance` went to last.
  package var seenState: StateName { StateName(state: seen) }

  private func giveUp() -> Bool {
    statistics.retries += 1
    return false
  }

  private func identifyWithoutIndex() throws(Doubt) -> Bool {
    let state = try JournalState(pages.database)
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

  // MARK: - Following

  /// Follows a table from the present state on, or remembers more of a table that is already followed.
  ///
  /// - Parameters:
  ///   - fields: the fields of its records whose values are needed for rows that are gone.
  ///   - records: which records of rows that changed ticks hand on.
  /// - Returns: the number by which ticks call it.
  package func follow(
    _ table: CapturedTable, remembering fields: [Int], keeping records: KeptRecords = .none
  ) -> Int {
    let key = table.name.lowercased()
    if let number = numberOfName[key], let followed = tables[number] {
      followed.remember(fields)
      keep(records, of: followed)
      return number
    }
    nextNumber += 1
    numberOfName[key] = nextNumber
    let followed = FollowedTable(number: nextNumber, table, remembering: fields.sorted(), packer)
    keep(records, of: followed)
    tables[nextNumber] = followed
    return nextNumber
  }

  /// A table of a state that was kept.
  func addRestored(_ table: CaptureState.Table) {
    nextNumber += 1
    numberOfName[table.captured.name.lowercased()] = nextNumber
    tables[nextNumber] = FollowedTable(number: nextNumber, table, packer)
  }

  /// Has ticks hand on the records of all tables that are followed.
  package func keepAllRecords() { for table in tables.values { keep(.all, of: table) } }

  private func keep(_ kept: KeptRecords, of table: FollowedTable) {
    if kept != .none { table.records = records }
    if kept == .all { table.keepsFormerRecords = true }
  }

  /// Forgets a table.
  package func unfollow(_ number: Int) {
    guard let table = tables.removeValue(forKey: number) else { return }
    numberOfName[table.name.lowercased()] = nil
  }

  /// The record fields that are remembered of a table, ascending: what `TableDelta.Row.old` holds.
  package func rememberedFields(of number: Int) -> [Int] { tables[number]?.summary.layout.remembered ?? [] }

  /// How changes of a table are found, or would be if it were followed.
  package func form(ofTable name: String) -> CaptureForm {
    let form = numberOfName[name.lowercased()].flatMap { tables[$0]?.form }
    switch seen {
    case .wal: return form ?? .rows
    case .journal: return form == .reading || form == CaptureForm.none ? form! : .comparison
    case .hidden, .unknown: return .none
    }
  }

  /// The tables that are followed.
  package var numbers: [Int] { Array(tables.keys) }

  package var tableCount: Int { tables.count }

  /// The name of a table that is followed.
  package func name(of number: Int) -> String? { tables[number]?.name }

  /// Brings everything that is remembered to the state that the transaction sees. Never fails: what is not known is
  /// reported as unknown.
  ///
  /// - Parameters:
  ///   - states: which others have read in between, in any order. Rows that changed before one of them and changed back after it
  ///     are reported, if the tick can go through it (`hasPassed`).
  ///   - throughCommits: whether to go through the state of each commit, as far as their frames are there.
  ///   - define: reads the schema of this state; asked when it may be another one. In the order of the names, nil
  ///     for tables that are not there; it may throw, and is asked again then by the next tick.
  package func advance(
    through states: [StateName] = [], throughCommits: Bool = false, _ define: ([String]) throws -> [CapturedTable?]
  ) -> CapturedTick {
    var tick = CapturedTick()
    hasEndedEarly = false
    records.removeAll()
    let doubt = takeUpRestored(define)
    let before = seen
    defer {
      seen = current
      passed.add(current)
      if let index { contents.noteProgress(index) }
      seenHeader = noted
      framesRead = nil
      pages.end()
    }
    if let doubt {
      compareAll(doubt, since: before, &tick, define)
    } else if current.isSame(as: seen) {
      pages.begin(pageSize: pages.pageSize, isBackfilled: current.isBackfilled)
      // It could not be read.
      if schemaCookie == nil, current.canBeRead { compareAll(.schema, since: before, &tick, define) }
    } else if misled.mustCompare(current, backfilled) {
      compareAll(.backfill, since: before, &tick, define)
    } else if let reason = followFrames(through: states, throughCommits, &tick, define) {
      compareAll(reason, since: before, &tick, define)
    }
    collect(&tick)
    return tick
  }

  /// Whether a tick has gone to a state or through it, not long ago: what ticks have reported since then is all that has changed since.
  package func hasPassed(_ state: StateName) -> Bool { passed.contains(state) }

  /// - Returns: nil when it was followed; otherwise why not.
  private func followFrames(
    through states: [StateName], _ throughCommits: Bool, _ tick: inout CapturedTick,
    _ define: ([String]) throws -> [CapturedTable?]
  ) -> Doubt.Reason? {
    guard case .wal(let header, let isBackfilled) = current else {
      if case .journal = current { return .rollbackJournal }
      return .format
    }
    guard case .wal = seen else { return .first }
    if schemaCookie == nil { return .schema }
    var doubts: [Int: Doubt] = [:]
    do throws(Doubt) {
      let stops = throughCommits ? try commitStops(header) : stops(states)
      for stop in stops where !(try goThrough(stop, &doubts, &tick)) { break }
      try takeFrames(to: header, isBackfilled: isBackfilled, &tick)
      if !pages.hasCopied(upTo: backfilled, pageCount: header.pageCount) {
        misled.note(header)
        throw Doubt(.backfill)
      }
      for number in try readFirstPage(&tick, define) { doubts[number] = Doubt(.schema) }
      for table in tables.values { follow(table, doubts.isEmpty ? nil : doubts[table.number]) }
      return nil
    } catch {
      if throughCommits, pages.readsFramesAlone, doubts.isEmpty {
        endEarly()
        return nil
      }
      return error.reason
    }
  }

  /// Frames were overwritten while a tick without a transaction went through their commits. It ends with the state that it has come to; the next
  /// one has a transaction, where tables can be compared.
  private func endEarly() {
    current = seen
    noted = nil
    hasEndedEarly = true
  }

  private func pageSize(of header: WALIndexHeader) -> Int { header.pageSize == 0 ? pages.pageSize : header.pageSize }

  /// Reads the frames between two states, unless they are those that were read last.
  func readFrames(from before: WALIndexHeader, to header: WALIndexHeader) throws(Doubt) -> WALFollower.Step {
    if let framesRead, framesRead.from == before, framesRead.to == header { return framesRead.step }
    framesRead = nil
    let follower = WALFollower(pageSize: pageSize(of: header), reader: reader)
    let step = try follower.step(from: before, to: header, pages.wal)
    framesRead = FramesRead(from: before, to: header, step: step)
    return step
  }

  /// Takes in the frames between the state seen last and another one.
  func takeFrames(to header: WALIndexHeader, isBackfilled: Bool, _ tick: inout CapturedTick) throws(Doubt) {
    guard case .wal(let before, _) = seen else { return }
    let step = try readFrames(from: before, to: header)
    framesRead = nil
    pages.begin(pageSize: pageSize(of: header), isBackfilled: isBackfilled)
    pages.take(reader, rest: step.rest, isNewGeneration: step.isNewGeneration)
    statistics.frames += reader.frames.count + step.rest.count
    tick.commits += Int64(step.commits)
  }

  /// - Parameter doubt: why changed pages do not tell; nil: they may.
  private func follow(_ table: FollowedTable, _ doubt: Doubt?) {
    do throws(Doubt) {
      if let doubt { throw doubt }
      try table.apply(pages.changed, pages)
    } catch {
      statistics.comparisons[error.reason, default: 0] += 1
      // The table is read in later ticks, in their transactions.
      if pages.readsFramesAlone { table.giveUp() } else { table.compare(pages) }
    }
  }

  /// Reads what page 1 says, where it changed.
  ///
  /// - Returns: the numbers of tables that must be compared as a whole.
  private func readFirstPage(
    _ tick: inout CapturedTick, _ define: ([String]) throws -> [CapturedTable?]
  ) throws(Doubt) -> Set<Int> {
    guard pages.changed.first == 1 else { return [] }
    let cookie = try pages.readFirstPage()
    return cookie == schemaCookie ? [] : readSchema(cookie, &tick, define)
  }

  private func readSchema(
    _ cookie: UInt32, _ tick: inout CapturedTick, _ define: ([String]) throws -> [CapturedTable?]
  ) -> Set<Int> {
    tick.hasSchemaChanged = true
    let followed = Array(tables.values)
    do {
      let definitions = try define(followed.map(\.name))
      schemaCookie = cookie
      return Set(zip(followed, definitions).filter { $0.define($1) }.map(\.0.number))
    } catch {
      // The next tick asks again; until then nothing is known.
      schemaCookie = nil
      for table in followed { table.delta.isUnknown = true }
      return Set(followed.map(\.number))
    }
  }

  /// The answer to a doubt about the whole file.
  private func compareAll(
    _ reason: Doubt.Reason, since before: FileState, _ tick: inout CapturedTick,
    _ define: ([String]) throws -> [CapturedTable?]
  ) {
    tick.isFirst = before.isUnknown
    tick.commits = tick.isFirst ? 0 : current.commits(since: before)
    if !tick.isFirst {
      tick.comparison = reason
      if !tables.isEmpty { statistics.comparisons[reason, default: 0] += 1 }
    }
    reader.removeAll()
    do throws(Doubt) {
      if !current.canBeRead || current.isEmpty { _ = readSchema(0, &tick, define) }
      if current.isEmpty { return tables.values.forEach { $0.giveUp() } }
      guard let pageSize = current.pageSize(pages.database) else { throw Doubt(.format) }
      pages.begin(pageSize: pageSize, isBackfilled: current.isBackfilled)
      try readFrameNumbers()
      let cookie = try pages.readFirstPage()
      if cookie != schemaCookie { _ = readSchema(cookie, &tick, define) }
      for table in tables.values { table.compare(pages) }
    } catch {
      // Neither is the schema known then: the next tick asks again.
      if current.canBeRead { schemaCookie = nil }
      for table in tables.values { table.giveUp() }
    }
  }

  /// What is said to be copied is searched in the WAL anyway, where former images stay longer, if it is the same.
  private func readFrameNumbers() throws(Doubt) {
    guard case .wal(let header, isBackfilled: false) = current else {
      return try pages.readFrameNumbers(after: 0, upTo: 0)
    }
    if !misled.isKnown(header) {
      try pages.readFrameNumbers(after: 0, upTo: header.frameCount)
      if try pages.hasCopiedAll(upTo: backfilled, pageCount: header.pageCount) { return }
      misled.note(header)
    }
    try pages.readFrameNumbers(after: backfilled, upTo: header.frameCount)
  }

  private func collect(_ tick: inout CapturedTick) {
    for table in tables.values { collect(table, &tick) }
  }

  func collect(_ table: FollowedTable, _ tick: inout CapturedTick) {
    if table.delta.isEmpty { return }
    statistics.rows += table.delta.rows.count
    tick.deltas.append((table.number, table.takeDelta()))
  }

  /// Whether there are tables that are not read yet.
  package var isReading: Bool { tables.values.contains { $0.form == .reading } }

  /// Reads pages of tables that are not read yet. In the transaction, after `advance`.
  ///
  /// - Returns: whether there are more.
  package func readOn() -> Bool {
    // An error may have ended the transaction: what is read then would be of another state.
    guard seen.canBeRead, sqlite3_get_autocommit(connection) == 0 else { return false }
    var left = settings.pagesAtOnce
    for table in tables.values where left > 0 { left -= table.readOn(pages, limit: left) }
    keepWithinMemory()
    return isReading
  }

  private func keepWithinMemory() {
    var total = tables.values.reduce(0) { $0 + $1.summary.byteCount }
    while total > settings.memoryLimit,
      let largest = tables.values.filter(\.summary.keepsRows).max(by: { $0.summary.byteCount < $1.summary.byteCount }),
      largest.summary.byteCount > 0
    {
      total -= largest.summary.byteCount
      largest.becomeLarge()
    }
    statistics.bytes = total
  }
}
