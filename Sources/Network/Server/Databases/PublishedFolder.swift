import Ground
import LiveQuery
import Logging
import Replication
import Synchronization

/// Has all databases of a folder open and published, and lists them in the log. It has a thread of its own, which looks
/// at the folder now and then.
final class PublishedFolder: Sendable {
  private enum Entry {
    case opening
    case open(DatabaseUse)
    /// It cannot be opened, and is not tried again before `until`.
    case failed(until: Instant)
    /// The file has been missing since then.
    case missing(DatabaseUse?, since: Instant)
    /// It is being closed.
    case closing
    /// It is closed, and its streams have to be removed.
    case gone
  }

  private let databases: Databases
  private let index: DatabaseIndex
  private let logger: Logger
  private let worker = Worker()
  private let entries = Mutex<[DatabaseName: Entry]>([:])
  private let clock = MonotonicClock.system

  private static let interval: Int32 = 2_000
  /// The time after which a missing file counts as removed. Replicas then put their copies aside.
  private static let grace = Nanoseconds.milliseconds(10_000)
  private static let pauseAfterFailure = Nanoseconds.milliseconds(60_000)

  init(_ databases: Databases, _ replication: ServerReplication, logger: Logger) {
    self.databases = databases
    self.logger = logger
    index = DatabaseIndex(replication.broker, replicas: replication.settings.replicas)
  }

  func start() {
    worker.start { [self] in
      // The databases that the log lists. Owner: the thread.
      var listed: Set<DatabaseName>?
      var trouble = ""
      while !worker.mustStop {
        look()
        do {
          try announce(&listed)
          trouble = ""
        } catch {
          listed = nil
          if "\(error)" != trouble { logger.warning("the log does not list the databases: \(error)") }
          trouble = "\(error)"
        }
        worker.rest(milliseconds: isOpening ? 20 : Self.interval)
      }
    }
  }

  /// Stops keeping databases open.
  func stop() {
    worker.stop()
    entries.withLock { $0 = [:] }
  }

  /// Called when a database was made.
  func noteMade() { worker.wake.signal() }

  /// Called when a database is about to be removed: stops keeping it open.
  func release(_ name: DatabaseName) { entries.withLock { $0[name] = .missing(nil, since: .distantPast) } }

  private var isOpening: Bool {
    entries.withLock { entries in
      entries.values.contains {
        switch $0 {
        case .opening, .closing, .gone: true
        case .open(let use): use.database.isBeginningToPublish
        case .failed, .missing: false
        }
      }
    }
  }

  // MARK: - The folder

  private func look() {
    let now = clock.now
    // An unreadable folder says nothing of its files.
    guard let names = databases.places.readableNames else { return }
    let there = Set(names.filter { !databases.isBeingRemoved($0) })
    let (toOpen, toClose) = entries.withLock { entries in (open(there, now, &entries), close(there, now, &entries)) }
    for name in toOpen {
      let result = databases.use(name) { [self] in noteOpened(name, $0) }
      if let result { noteOpened(name, result) }
    }
    for name in toClose {
      databases.end(sessionsOf: name) { [self] in
        entries.withLock { $0[name] = .gone }
        worker.wake.signal()
      }
    }
  }

  private func open(_ there: Set<DatabaseName>, _ now: Instant, _ entries: inout [DatabaseName: Entry])
    -> [DatabaseName]
  {
    there.filter { name in
      switch entries[name] {
      case .opening, .open, .closing, .gone: return false
      case .failed(let until): if now < until { return false }
      case .missing(let use?, _):
        entries[name] = .open(use)
        return false
      case .missing(nil, _), nil: break
      }
      entries[name] = .opening
      return true
    }
  }

  private func close(_ there: Set<DatabaseName>, _ now: Instant, _ entries: inout [DatabaseName: Entry])
    -> [DatabaseName]
  {
    entries.keys.filter { name in
      if there.contains(name) { return false }
      switch entries[name] {
      case .open(let use): entries[name] = .missing(use, since: now)
      case .failed: entries[name] = .missing(nil, since: now)
      case .missing(_, let since):
        if now - since >= Self.grace || since == .distantPast {
          // Setting the entry ends the use of the database.
          entries[name] = .closing
          return true
        }
      case .opening, .closing, .gone, nil: break
      }
      return false
    }
  }

  private func noteOpened(_ name: DatabaseName, _ result: Result<DatabaseUse, FreshetError>) {
    entries.withLock { entries in
      // It was removed meanwhile.
      guard case .opening = entries[name] else { return }
      switch result {
      case .success(let use): entries[name] = .open(use)
      case .failure: entries[name] = .failed(until: clock.now + Self.pauseAfterFailure)
      }
    }
    worker.wake.signal()
  }

  // MARK: - The log

  /// - Parameter listed: the databases that the log lists; nil: unknown.
  private func announce(_ listed: inout Set<DatabaseName>?) throws {
    var known = try listed ?? read()
    // Notices that the broker has lost are sent again.
    if try index.count() ?? 0 < known.count { known = [] }
    let (published, gone) = entries.withLock { entries in
      (
        entries.compactMap { name, entry in
          if case .open(let use) = entry, use.database.isPublished { name } else { nil }
        },
        entries.compactMap { name, entry in if case .gone = entry { name } else { nil } }
      )
    }
    for name in published where !known.contains(name) {
      try index.say(.init(name.description, isRemoved: false))
      known.insert(name)
    }
    for name in gone {
      try index.removeStreams(of: name.description)
      try index.say(.init(name.description, isRemoved: true))
      known.remove(name)
      entries.withLock { if case .gone = $0[name] { $0[name] = nil } }
    }
    listed = known
  }

  /// The databases in the log. Databases that the former server published, and that are missing now, are marked as
  /// missing.
  private func read() throws -> Set<DatabaseName> {
    try index.ensure()
    let listed = Set(try index.all().filter { !$0.isRemoved }.compactMap { DatabaseName($0.name) })
    let now = clock.now
    entries.withLock { entries in
      for name in listed where entries[name] == nil { entries[name] = .missing(nil, since: now) }
    }
    return listed
  }
}
