/// The changes that one advance of a file's memory found, for all captures.
struct FileTick {
  /// The state that the memory advanced to.
  var state = FileState.unknown
  /// The number of commits since the previous tick.
  var commits: Int64 = 0
  var hasSchemaChanged = false
  /// The changes of tables by number, in the order of commits.
  var deltas: [(table: Int, delta: ChangedRows)] = []
  var hasStopped = false
  /// See `CapturedTick.stops`.
  var stops: [(state: StateName, deltas: Int, commits: Int64)] = []
  var comparison: Doubt.Reason?

  var isQuiet: Bool { commits == 0 && !hasSchemaChanged && deltas.isEmpty }

  /// The approximate memory, in bytes. The records of all tables are in one arena.
  var byteCount: Int {
    let records = deltas.lazy.compactMap(\.delta.records).first?.byteCount ?? 0
    return deltas.reduce(128 + records) { $0 + $1.delta.byteCount }
  }
}

/// The tables that one capture follows, and the tick that it takes next.
///
/// Guarded by the file's lock.
final class CaptureCursor {
  /// The fields that must be remembered of rows, by number of the table.
  @exclusivity(unchecked) var wishes: [Int: [Int]] = [:]
  /// Followed tables with changes that no tick contains. The next tick reports them as unknown.
  @exclusivity(unchecked) var unknown: Set<Int> = []
  /// Whether this capture wants the changes of each commit separately.
  @exclusivity(unchecked) var wantsCommits = false
  @exclusivity(unchecked) fileprivate(set) var next = 0
  @exclusivity(unchecked) fileprivate(set) var schemaChanges = 0

  /// Whether the capture follows the table, and the delta has all fields that it wants.
  fileprivate func wants(_ delta: ChangedRows, of table: Int) -> Bool {
    guard let wanted = wishes[table] else { return false }
    return delta.isUnknown || wanted.isEmpty || delta.fields == wanted || Set(wanted).isSubset(of: delta.fields)
  }
}

/// The ticks of a file that not every capture has taken.
///
/// Guarded by the file's lock.
struct FileTicks {
  /// Ordered from the oldest to the newest.
  private var ticks: [FileTick] = []
  /// The number of the oldest tick.
  private var first = 0
  private(set) var byteCount = 0
  private var schemaChanges = 0
  private var cursors: [CaptureCursor] = []

  /// The most bytes of ticks that are kept for captures that are behind. A capture that needs older ticks must assume
  /// that any row may have changed.
  var mostBytes = 64 << 20

  private var end: Int { first + ticks.count }

  var hasOneReader: Bool { cursors.count < 2 }
  /// Whether every capture that follows tables has taken all ticks.
  var isTaken: Bool { ticks.isEmpty }
  /// Whether a capture wants the changes of each commit separately.
  var areByCommit: Bool { cursors.contains { $0.wantsCommits && !$0.wishes.isEmpty } }

  func isFirst(_ cursor: CaptureCursor) -> Bool { cursors.first === cursor }

  /// Adds a capture, which takes all ticks from now on.
  mutating func add(_ cursor: CaptureCursor) {
    cursors.append(cursor)
    pass(cursor)
  }

  mutating func remove(_ cursor: CaptureCursor) {
    cursors.removeAll { $0 === cursor }
    dropTaken()
  }

  func isWanted(_ table: Int) -> Bool { cursors.contains { $0.wishes[table] != nil } }

  func forgetFields(of table: Int) {
    for cursor in cursors where cursor.wishes[table] != nil { cursor.wishes[table] = [] }
  }

  mutating func append(_ tick: FileTick) {
    if tick.hasSchemaChanged { schemaChanges += 1 }
    if tick.isQuiet { return }
    ticks.append(tick)
    byteCount += tick.byteCount
  }

  /// The ticks that a capture has not taken; nil if some of them are not kept any more.
  func left(_ cursor: CaptureCursor) -> ArraySlice<FileTick>? {
    cursor.next < first ? nil : ticks[(cursor.next - first)...]
  }

  func hasSchemaChanged(since cursor: CaptureCursor) -> Bool { schemaChanges != cursor.schemaChanges }

  /// Called when a capture has taken all ticks.
  mutating func pass(_ cursor: CaptureCursor) {
    cursor.next = end
    cursor.schemaChanges = schemaChanges
    dropTaken()
  }

  /// Frees the ticks that all following captures have taken, and those beyond the limit.
  private mutating func dropTaken() {
    var needed = end
    for cursor in cursors where !cursor.wishes.isEmpty { needed = min(needed, cursor.next) }
    var count = max(0, needed - first)
    for tick in ticks.prefix(count) { byteCount -= tick.byteCount }
    while count < ticks.count - 1, byteCount > mostBytes {
      byteCount -= ticks[count].byteCount
      count += 1
    }
    if count == 0 { return }
    first += count
    if count < ticks.count { return ticks.removeFirst(count) }
    // Ticks are removed one by one, because there usually is only one.
    while ticks.popLast() != nil {}
  }
}

extension CapturedTick {
  /// Appends a tick of the file to the capture's tick.
  ///
  /// - Parameter number: returns the capture's number of a table.
  mutating func add(_ tick: FileTick, _ cursor: CaptureCursor, _ number: (Int) -> Int) {
    if let end {
      hasStopped = true
      stops.append((end, deltas.count, commits))
    }
    if deltas.isEmpty, tick.stops.isEmpty,
      tick.deltas.allSatisfy({ cursor.wants($0.delta, of: $0.table) && number($0.table) == $0.table })
    {
      deltas = tick.deltas
    } else {
      add(tick.deltas, tick.stops, cursor, number)
    }
    commits += tick.commits
    hasSchemaChanged = hasSchemaChanged || tick.hasSchemaChanged
    hasStopped = hasStopped || tick.hasStopped
    comparison = comparison ?? tick.comparison
    end = StateName(state: tick.state)
  }

  private mutating func add(
    _ added: [(table: Int, delta: ChangedRows)], _ stops: [(state: StateName, deltas: Int, commits: Int64)],
    _ cursor: CaptureCursor, _ number: (Int) -> Int
  ) {
    var left = stops[...]
    for (index, (table, delta)) in added.enumerated() {
      while let stop = left.first, stop.deltas <= index { add(left.removeFirst(), to: commits) }
      if cursor.wishes[table] == nil { continue }
      deltas.append((number(table), cursor.wants(delta, of: table) ? delta : .unknown))
    }
    while !left.isEmpty { add(left.removeFirst(), to: commits) }
  }

  private mutating func add(_ stop: (state: StateName, deltas: Int, commits: Int64), to before: Int64) {
    stops.append((stop.state, deltas.count, before + stop.commits))
  }
}
