import Following
import Ground
import Store

/// When the log gets digests of tables' rows, with which replicas compare their own rows.
///
/// A pass goes over all tables, a part in each tick, and takes at most 2 % of the time.
struct ContentsPass {
  /// How long reading a part may take, because the next changes are published after it.
  private static let part = Nanoseconds.milliseconds(5)
  private static let leastPause = Nanoseconds.milliseconds(250)
  /// The time from the start of one pass to the next if rows have changed since; otherwise a pass begins once an hour.
  private static let interval = Nanoseconds.milliseconds(10_000)
  private static let longestInterval = Nanoseconds.milliseconds(3_600_000)

  private let mode: SelfCheckMode
  private let clock: MonotonicClock
  private var began: Instant?
  private var due: Instant
  private var hasChanged = true
  /// How far the pass has come: the table, and the last key read.
  private var place: (table: String, key: [UInt8])?

  init(_ mode: SelfCheckMode, _ clock: MonotonicClock) {
    self.mode = mode
    self.clock = clock
    due = clock.now
  }

  mutating func note(_ tick: ChangeReader.Tick) {
    if !tick.isQuiet { hasChanged = true }
    // The tables may have changed, so the pass starts over.
    if tick.hasSchemaChanged { place = nil }
  }

  func isDue(_ now: Instant) -> Bool {
    switch mode {
    case .off: false
    case .always: hasChanged
    case .idle:
      if place != nil { now >= due } else { now >= max(due, nextPass) }
    }
  }

  private var nextPass: Instant {
    began.map { $0 + (hasChanged ? Self.interval : Self.longestInterval) } ?? .distantPast
  }

  /// Continues the pass, or begins one.
  ///
  /// - Parameter read: reads a table after a key until `isEnough`; returns the last key read, empty at the table's end.
  mutating func advance(
    over tables: [LogTable], read: (LogTable, _ key: [UInt8], _ isEnough: () -> Bool) throws -> [UInt8]
  ) rethrows {
    let start = clock.now
    if place == nil {
      began = start
      hasChanged = false
    }
    var (first, key) = (0, [UInt8]())
    if let place, let index = tables.firstIndex(where: { $0.name == place.table }) { (first, key) = (index, place.key) }
    place = nil
    let isWhole = mode == .always
    let isEnough = { [clock] in !isWhole && clock.now - start >= Self.part }
    for index in first..<tables.count {
      key = try read(tables[index], key, isEnough)
      if !key.isEmpty {
        place = (tables[index].name, key)
        break
      }
      if isEnough(), index + 1 < tables.count {
        place = (tables[index + 1].name, [])
        break
      }
    }
    let end = clock.now
    due = end + SelfCheckMode.pause(after: end - start, atLeast: Self.leastPause)
  }
}
