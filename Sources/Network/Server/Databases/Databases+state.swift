import Ground

extension Databases {
  /// The databases, and the actions in progress.
  struct State {
    var entries: [DatabaseName: Entry] = [:]
    /// The databases of `closing` that are not closed yet.
    var beingClosed: [DatabaseName: ServedDatabase] = [:]
    /// Databases that are being taken away from their clients.
    var removing: Set<DatabaseName> = []
    /// The number by which the followers of the database opened next wait for sessions.
    var waiter = 0
    /// Open databases, by that number.
    var byWaiter = [[DatabaseName: ServedDatabase]](repeating: [:], count: 64)
    var isStopping = false
    var counts = Counts()
  }

  enum Entry {
    case opening([Reply])
    case open(Open)
    /// Waiting clients want it opened again.
    case closing([Reply])
  }

  struct Open {
    let database: ServedDatabase
    var uses = 0
    /// When the last use ended.
    var idleSince: Instant
    /// A check whether it is still unused is scheduled.
    var isWatched = false
  }

  /// Counters since the start.
  struct Counts: Sendable {
    var opened = 0
    var failed = 0
    var closed = 0
  }
}

extension Databases.State {
  /// The unused database that was used least recently; nil: all are used.
  var leastRecentlyUsed: DatabaseName? {
    entries.compactMap { name, entry -> (name: DatabaseName, since: Instant)? in
      if case .open(let open) = entry, open.uses == 0 { (name, open.idleSince) } else { nil }
    }.min { $0.since < $1.since }?.name
  }

  mutating func close(_ name: DatabaseName) {
    guard case .open(let open) = entries[name] else { return }
    beingClosed[name] = open.database
    byWaiter[open.database.output.waiter][name] = nil
    entries[name] = .closing([])
  }

  mutating func takeClosing(_ name: DatabaseName) -> ServedDatabase? { beingClosed.removeValue(forKey: name) }

  /// The number for a newly opened database. There are 64: databases that share one are woken for each other's
  /// sessions.
  mutating func takeWaiter(_ count: Int) -> Int {
    defer { waiter = (waiter + count) % 64 }
    return waiter
  }
}
