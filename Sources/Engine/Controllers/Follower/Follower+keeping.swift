import ChangeCapture
import Following
import Ground
import Lists
import Store

// State that the next process starts from.
extension Follower {
  /// When to save state next, and how long restored tables stay followed.
  struct Keeping {
    var nextWrite = Instant.distantPast
    var hasWritten = false
    /// The extent of the state when it was last kept.
    var kept = Extent()
    /// Until then tables that were restored are followed, although no list reads them yet.
    var restoredUntil: Instant?
    /// The state in which the file was closed because nothing was followed.
    var released: StateKeeper.Part?
  }

  /// Counts whose change makes another state worth keeping: ticks that have seen changes, lists, tables.
  struct Extent: Equatable {
    var ticks = -1
    var lists = 0
    var tables = 0
  }

  private var extent: Extent {
    Extent(ticks: context.statistics.ticks, lists: lists.byQuery.count, tables: lists.capture?.tableCount ?? 0)
  }

  /// When `keepState` has something to do.
  var nextKeeping: Instant {
    if context.configuration.keeper == nil { return .distantFuture }
    return min(keeping.restoredUntil ?? .distantFuture, keeping.kept == extent ? .distantFuture : keeping.nextWrite)
  }

  /// A state is kept soon after the start, when clients have come back.
  private static let firstWrite = Nanoseconds.milliseconds(1_000)

  /// The first file was opened, and capture goes on with what was kept of it, if it was.
  func takeUpRestored(_ opened: OpenDatabase) {
    guard let keeper = context.configuration.keeper else { return }
    let now = context.clock.now
    // Without one a process that is killed takes its epoch with it.
    keeping.nextWrite = keeper.epoch == nil ? now : now + Self.firstWrite
    // Also where no list is open yet: there is a state to keep then.
    context.mustTick = true
    defer { keeper.forgetRestored(context.number) }
    let capture = opened.connection.capture
    guard capture.isRestored, let memory = keeper.restored(context.number)?.memory,
      memory.epoch == numbers.commits.epoch.name
    else { return }
    lists.restore(memory, capture)
    keeping.restoredUntil = now + context.intervals.linger
  }

  /// Between ticks.
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

  /// The loop has ended, and the lists are still there.
  func keepLastState() {
    guard let keeper = context.configuration.keeper, let part = keptPart() ?? keeping.released else { return }
    keeper.end(with: part, of: context.number)
  }

  func keptPart() -> StateKeeper.Part? {
    guard let capture = lists.capture, let state = CaptureState(of: capture) else { return nil }
    return StateKeeper.Part(state: state, memory: lists.kept(capture))
  }
}
