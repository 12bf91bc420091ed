import Dispatch
import Ground
import LiveQuery
import Logging
import Synchronization

// Closes databases that are not used any more.
extension Databases {
  /// Called when a use has ended.
  func end(_ name: DatabaseName) {
    let mustWatch = state.withLock { state in
      if state.isStopping { return false }
      guard case .open(var open) = state.entries[name] else { return false }
      open.uses -= 1
      open.idleSince = configuration.clocks.monotonic.now
      let mustWatch = open.uses == 0 && !open.isWatched
      if mustWatch { open.isWatched = true }
      state.entries[name] = .open(open)
      return mustWatch
    }
    if mustWatch { watch(name, for: configuration.limits.databaseIdle) }
  }

  private func watch(_ name: DatabaseName, for time: Duration) {
    queues[0].asyncAfter(deadline: .now() + time) { [weak self] in self?.closeIfUnused(name) }
  }

  private func closeIfUnused(_ name: DatabaseName) {
    let now = configuration.clocks.monotonic.now
    let idleTime = Nanoseconds(configuration.limits.databaseIdle)
    let (mustClose, left) = state.withLock { state -> (Bool, Nanoseconds?) in
      guard !state.isStopping, case .open(var open) = state.entries[name] else { return (false, nil) }
      if open.uses == 0, now - open.idleSince >= idleTime {
        state.close(name)
        return (true, nil)
      }
      open.isWatched = open.uses == 0
      state.entries[name] = .open(open)
      return (false, open.uses == 0 ? idleTime - (now - open.idleSince) : nil)
    }
    if mustClose { perform(name) { self.close($0) } }
    if let left { watch(name, for: .nanoseconds(Int64(clamping: left.count))) }
  }

  /// Closes a database that `State.close` has taken out of use, and opens it again for clients that have come
  /// meanwhile.
  func close(_ name: DatabaseName) {
    if let database = state.withLock({ $0.takeClosing(name) }) {
      database.drain()
      database.stop()
      surroundings.logger.info("closed the database \(name)")
    }
    let replies = state.withLock { state -> [Reply] in
      state.counts.closed += 1
      defer { state.entries[name] = nil }
      if case .closing(let replies) = state.entries[name] { return replies }
      return []
    }
    for reply in replies { if let result = use(name, later: reply) { reply(result) } }
  }
}
