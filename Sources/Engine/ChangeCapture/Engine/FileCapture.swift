import CSQLite
import Ground

/// The memory of a file's tables, and how it follows the file; shared by all captures of the file in this process.
///
/// It has neither a thread nor a connection of its own. The first capture to reach a new state of the file takes the
/// lock before its transaction begins, brings the memory to the state that the transaction sees, and leaves the changes
/// as a `FileTick`. The other captures find the tick there, each by its cursor, and read nothing.
///
/// Mutable state, all of it under `lock`: the state seen last (`seen`), the memory of each followed table, where pages
/// are (`pages`), and the ticks that not every capture has taken.
// @unchecked: `lock` guards all mutable state.
final class FileCapture: @unchecked Sendable {
  let lock = HeldLock()
  /// The limits. If captures have different limits for the memory, the higher ones are used.
  var settings: ChangeCapture.Settings
  let hasher: PayloadHasher
  let packer: RowPacker
  let reader = FrameReader()
  /// The frames that `reader` has read of the current state.
  @exclusivity(unchecked) var framesRead: FramesRead?
  /// Records of the current tick.
  @exclusivity(unchecked) private var records: RecordArena
  let pages: SnapshotPages<DatabaseFile, DatabaseFile>
  /// The connection of the capture that holds the lock, and what this capture knows of the state that its transaction
  /// sees.
  @exclusivity(unchecked) private(set) var connection: OpaquePointer
  @exclusivity(unchecked) var index: SharedIndex?
  @exclusivity(unchecked) var current = FileState.unknown
  /// The number of frames that are copied into the database file, from the WAL-index of the transaction's state.
  @exclusivity(unchecked) var backfilled: UInt32 = 0
  @exclusivity(unchecked) var seen = FileState.unknown
  /// The first name of the state seen last. It has a second name if a WAL begins anew without a commit.
  @exclusivity(unchecked) var named = FileState.unknown
  /// The generation of the WAL whose `backfilled` was found to be wrong.
  @exclusivity(unchecked) var misled = MisledGeneration()
  /// The cookie of the schema that was read last; nil if the schema must be read again.
  @exclusivity(unchecked) var schemaCookie: UInt32?
  @exclusivity(unchecked) var tables: [Int: FollowedTable] = [:]
  @exclusivity(unchecked) var numberOfName: [String: Int] = [:]
  /// State kept by another process; nil after the first tick.
  @exclusivity(unchecked) var restored: CaptureState?
  @exclusivity(unchecked) var statistics = CaptureStatistics()
  @exclusivity(unchecked) var ticks = FileTicks()
  /// Whether the last tick ended before the state that the transaction sees.
  @exclusivity(unchecked) private(set) var hasEndedEarly = false
  /// The number of captures that use this memory, or will once they see the same state.
  @exclusivity(unchecked) var captures = 0
  /// Set when a capture's connection shows other contents than the file has now, and when the last capture has ended.
  /// New captures then do not join.
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

  /// Has everything read by the connection of a capture, which holds the lock.
  func use(_ capture: ChangeCapture) {
    connection = capture.connection
    pages.use(database: capture.database, wal: capture.wal)
    index = capture.index
    current = capture.current
    backfilled = capture.backfilled
  }

  // MARK: - Ticks

  /// Brings the memory of all tables to the state that the transaction sees. Never fails: unknown changes are reported
  /// as unknown.
  ///
  /// - Parameters: see `ChangeCapture.advance`.
  func advance(through states: [StateName], throughCommits: Bool) {
    var tick = FileTick()
    hasEndedEarly = false
    renewRecords()
    let doubt = takeUpRestored()
    let before = seen
    if let doubt {
      // A forged kept state may have another definition with the same cookie.
      tick.hasSchemaChanged = tables.values.contains(where: \.isUndefined)
      compareAll(doubt, since: before, &tick)
    } else if current.isSame(as: seen) {
      pages.begin(pageSize: pages.pageSize, isBackfilled: current.isBackfilled)
      // The schema could not be read, so all tables are compared.
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

  /// Starts a new arena for records, unless no capture can still read records of earlier ticks.
  private func renewRecords() {
    if ticks.hasOneReader, ticks.isTaken { return records.removeAll() }
    records = RecordArena(limit: settings.recordBytes)
    for table in tables.values where table.records != nil { table.records = records }
  }

  /// - Returns: nil if the frames were followed; otherwise why not.
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

  /// Called when frames were overwritten while a tick without a transaction went through their commits. The tick ends
  /// with the state that it has reached. The next tick has a transaction, in which tables can be compared.
  private func endEarly() {
    current = seen
    hasEndedEarly = true
  }

  private func pageSize(of header: WALIndexHeader) -> Int { header.pageSize == 0 ? pages.pageSize : header.pageSize }

  /// Reads the frames between two states, unless they were the last frames read.
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

  /// - Parameter doubt: why the changed pages are not enough; nil if they are.
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
