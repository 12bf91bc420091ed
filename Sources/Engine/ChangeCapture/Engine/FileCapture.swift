import CSQLite
import Ground

/// The memory of a file's tables, and how it follows the file; shared by all captures of the file in this process.
///
/// It has neither a thread nor a connection of its own. Whichever capture comes first to another state of the file
/// takes the lock before its transaction begins, brings what is remembered to the state that the transaction sees, and
/// leaves what that found as a `FileTick`. The others find it there, each by its cursor, and read nothing.
///
/// Mutable state, all of it under `lock`: the state seen last (`seen`), what is remembered of each followed table,
/// where pages are (`pages`), the ticks that not everyone has taken.
// @unchecked: see above.
final class FileCapture: @unchecked Sendable {
  let lock = HeldLock()
  /// The most that any of the captures may take.
  var settings: ChangeCapture.Settings
  let hasher: PayloadHasher
  let packer: RowPacker
  let reader = FrameReader()
  /// The frames that `reader` has read of the current state.
  @exclusivity(unchecked) var framesRead: FramesRead?
  /// Records of the current tick.
  @exclusivity(unchecked) private var records: RecordArena
  let pages: SnapshotPages<DatabaseFile, DatabaseFile>
  /// The connection of the capture that has the lock, and what it knows of the state that its transaction sees.
  @exclusivity(unchecked) private(set) var connection: OpaquePointer
  @exclusivity(unchecked) var index: SharedIndex?
  @exclusivity(unchecked) var current = FileState.unknown
  /// The number of frames that are copied into the database file, from the WAL-index of the transaction's state.
  @exclusivity(unchecked) var backfilled: UInt32 = 0
  @exclusivity(unchecked) var seen = FileState.unknown
  /// The first name of what is in the state seen last: where a WAL begins anew without a commit, that has another name.
  @exclusivity(unchecked) var named = FileState.unknown
  /// Where `backfilled` was found to be wrong.
  @exclusivity(unchecked) var misled = MisledGeneration()
  /// The cookie of the schema that was read last; nil: it has to be read again.
  @exclusivity(unchecked) var schemaCookie: UInt32?
  @exclusivity(unchecked) var tables: [Int: FollowedTable] = [:]
  @exclusivity(unchecked) var numberOfName: [String: Int] = [:]
  /// State kept by another process; nil after the first tick.
  @exclusivity(unchecked) var restored: CaptureState?
  @exclusivity(unchecked) var statistics = CaptureStatistics()
  @exclusivity(unchecked) var ticks = FileTicks()
  /// The last tick ended before the state that the transaction sees.
  @exclusivity(unchecked) private(set) var hasEndedEarly = false
  /// How many captures use it, or will once they see the same state.
  @exclusivity(unchecked) var captures = 0
  /// Set when a capture's connection shows other contents than the file has now, and when the last has ended: new
  /// captures do not join.
  @exclusivity(unchecked) var isStale = false

  /// - Parameter connection: an `sqlite3 *`; see `use`.
  init(_ connection: OpaquePointer, _ settings: ChangeCapture.Settings, hasher: PayloadHasher = PayloadHasher()) {
    self.connection = connection
    self.settings = settings
    self.hasher = hasher
    packer = RowPacker(hasher: hasher)
    records = RecordArena(limit: settings.recordBytes)
    pages = SnapshotPages(
      database: DatabaseFile(.database, of: connection), wal: DatabaseFile(.wal, of: connection))
  }

  /// Has everything read by the connection of a capture that has the lock.
  func use(_ capture: ChangeCapture) {
    connection = capture.connection
    pages.use(database: capture.database, wal: capture.wal)
    index = capture.index
    current = capture.current
    backfilled = capture.backfilled
  }

  // MARK: - Ticks

  /// Brings everything that is remembered to the state that the transaction sees. Never fails: unknown changes are
  /// reported as unknown.
  ///
  /// - Parameters: see `ChangeCapture.advance`.
  func advance(through states: [StateName], throughCommits: Bool) {
    var tick = FileTick()
    hasEndedEarly = false
    renewRecords()
    let doubt = takeUpRestored()
    let before = seen
    if let doubt {
      // A forged state may have another definition under the same cookie.
      tick.hasSchemaChanged = tables.values.contains(where: \.isUndefined)
      compareAll(doubt, since: before, &tick)
    } else if current.isSame(as: seen) {
      pages.begin(pageSize: pages.pageSize, isBackfilled: current.isBackfilled)
      // It could not be read.
      if schemaCookie == nil, current.canBeRead { compareAll(.schema, since: before, &tick) }
    } else if misled.mustCompare(current, backfilled) {
      compareAll(.backfill, since: before, &tick)
    } else if let reason = followFrames(through: states, throughCommits, &tick) {
      compareAll(reason, since: before, &tick)
    }
    for table in tables.values { collect(table, &tick) }
    seen = current
    if !tick.isQuiet || named.isUnknown { named = seen }
    framesRead = nil
    pages.end()
    tick.state = seen
    ticks.append(tick)
  }

  /// Records of ticks before may still be read, by those who have taken them, or will.
  private func renewRecords() {
    if ticks.hasOneReader, ticks.isTaken { return records.removeAll() }
    records = RecordArena(limit: settings.recordBytes)
    for table in tables.values where table.records != nil { table.records = records }
  }

  /// - Returns: nil when it was followed; otherwise why not.
  private func followFrames(
    through states: [StateName], _ throughCommits: Bool, _ tick: inout FileTick
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
      for number in try readFirstPage(&tick) { doubts[number] = Doubt(.schema) }
      for table in tables.values { apply(to: table, doubts.isEmpty ? nil : doubts[table.number]) }
      return nil
    } catch {
      if throughCommits, pages.readsFramesAlone, doubts.isEmpty {
        endEarly()
        return nil
      }
      return error.reason
    }
  }

  /// Frames were overwritten while a tick without a transaction went through their commits. It ends with the state that
  /// it has come to; the next one has a transaction, where tables can be compared.
  private func endEarly() {
    current = seen
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

  /// Reads the frames from the last state up to `header`.
  func takeFrames(to header: WALIndexHeader, isBackfilled: Bool, _ tick: inout FileTick) throws(Doubt) {
    guard case .wal(let before, _) = seen else { return }
    let step = try readFrames(from: before, to: header)
    framesRead = nil
    pages.begin(pageSize: pageSize(of: header), isBackfilled: isBackfilled)
    pages.take(reader, rest: step.rest, isNewGeneration: step.isNewGeneration)
    statistics.frames += reader.frames.count + step.rest.count
    tick.commits += Int64(step.commits)
  }

  /// - Parameter doubt: why changed pages do not tell; nil: they may.
  private func apply(to table: FollowedTable, _ doubt: Doubt?) {
    do throws(Doubt) {
      if let doubt { throw doubt }
      try table.apply(pages.changed, pages)
    } catch {
      statistics.comparisons[error.reason, default: 0] += 1
      // The table is read in later ticks, in their transactions.
      if pages.readsFramesAlone { table.giveUp() } else { table.compare(pages) }
    }
  }

  /// Called when a capture ends. The last one to end frees the memory.
  func leave() {
    captures -= 1
    if captures > 0 { return }
    isStale = true
    (tables, numberOfName) = ([:], [:])
  }

  func collect(_ table: FollowedTable, _ tick: inout FileTick) {
    if table.delta.isEmpty { return }
    statistics.rows += table.delta.rows.count
    tick.deltas.append((table.number, table.takeDelta()))
  }

  func keep(_ kept: KeptRecords, of table: FollowedTable) {
    if kept != .none { table.records = records }
    if kept == .all { table.keepsFormerRecords = true }
  }
}
