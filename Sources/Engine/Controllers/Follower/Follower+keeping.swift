import ChangeCapture
import Following
import Ground
import Lists
import Store

// Keeps the state that the next process starts from.
extension Follower {
  /// When to save state next, and how long restored tables stay followed.
  struct Keeping {
    var nextWrite = Instant.distantPast
    var hasWritten = false
    /// The extent of the state when it was last kept.
    var kept = Extent()
    /// Until this time restored tables are followed, even if no list reads them yet.
    var restoredUntil: Instant?
    /// The state when the file was closed because nothing was followed.
    var released: StateKeeper.Part?
  }

  /// Counts of ticks that have seen changes, of lists and of tables. If one of them changes, another state is worth
  /// keeping.
  struct Extent: Equatable {
    var ticks = -1
    var lists = 0
    var tables = 0
  }

  private var extent: Extent {
    Extent(ticks: context.statistics.ticks, lists: lists.byQuery.count, tables: lists.capture?.tableCount ?? 0)
  }

  /// When `keepState` must be called next.
  var nextKeeping: Instant {
    if context.configuration.keeper == nil { return .distantFuture }
    return min(keeping.restoredUntil ?? .distantFuture, keeping.kept == extent ? .distantFuture : keeping.nextWrite)
  }

  /// The time from the start to the first kept state, in which clients reconnect.
  private static let firstWrite = Nanoseconds.milliseconds(1_000)

  /// Called when the first file was opened. Capture starts from the kept state, if there is a state of this file.
  func takeUpRestored(_ opened: OpenDatabase) {
    guard let keeper = context.configuration.keeper else { return }
    let now = context.clock.now
    // If there is no kept state, the epoch is lost if the process is killed, so a state is kept at once.
    keeping.nextWrite = keeper.epoch == nil ? now : now + Self.firstWrite
    // A tick is needed even if no list is open yet, so that there is a state to keep.
    context.mustTick = true
    defer { keeper.forgetRestored(context.number) }
    let capture = opened.connection.capture
    guard capture.isRestored, let memory = keeper.restored(context.number)?.memory,
      memory.epoch == numbers.commits.epoch.name
    else { return }
    lists.restore(memory, capture)
    keeping.restoredUntil = now + context.intervals.linger
  }

  /// Keeps the state if it is due. To be called between ticks.
  func keepState() {
    guard let keeper = context.configuration.keeper else { return }
    let now = context.clock.now
    if let until = keeping.restoredUntil, until <= now {
      keeping.restoredUntil = nil
      lists.forgetRestored()
    }
    if now < keeping.nextWrite || keeping.kept == extent || context.mustTick { return }
    keeping.kept = extent
    guard let part = keptPart() else { return }
    keeping.nextWrite = now + (keeping.hasWritten ? keeper.interval : Self.firstWrite)
    keeping.hasWritten = true
    keeper.keep(part, of: context.number)
  }

  /// Keeps the last state. Called when the loop has ended and the lists still exist.
  func keepLastState() {
    guard let keeper = context.configuration.keeper, let part = keptPart() ?? keeping.released else { return }
    keeper.end(with: part, of: context.number)
  }

  func keptPart() -> StateKeeper.Part? {
    guard let capture = lists.capture, let state = CaptureState(of: capture) else { return nil }
    return StateKeeper.Part(state: state, memory: lists.kept(capture))
  }
}
