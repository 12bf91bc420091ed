import Following
import Ground
import Store

/// When the log says what the rows of tables are, and how far that has come: replicas compare theirs.
///
/// A pass goes over all tables a part at a time, in ticks, for at most 2 % of the time.
struct ContentsPass {
  /// How long reading a part may delay the changes that are published next.
  private static let part = Nanoseconds.milliseconds(5)
  private static let leastPause = Nanoseconds.milliseconds(250)
  /// From one pass's beginning to the next one's, where rows have changed since; otherwise copies are checked once an
  /// hour.
  private static let interval = Nanoseconds.milliseconds(10_000)
  private static let longestInterval = Nanoseconds.milliseconds(3_600_000)

  private let mode: SelfCheckMode
  private let clock: MonotonicClock
  private var began: Instant?
  private var due: Instant
  private var hasChanged = true
  /// How far the pass is: the table, and the key up to which it was read.
  private var place: (table: String, key: [UInt8])?

  init(_ mode: SelfCheckMode, _ clock: MonotonicClock) {
    self.mode = mode
    self.clock = clock
    due = clock.now
  }

  mutating func note(_ tick: ChangeReader.Tick) {
    if !tick.isQuiet { hasChanged = true }
    // Tables may be other ones.
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

  /// Goes on with the pass, or begins one.
  ///
  /// - Parameter read: reads a table from after a key until it is enough; returns the key that it came to, empty at the
  ///   table's end.
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
