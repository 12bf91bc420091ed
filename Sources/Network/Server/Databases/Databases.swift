import Controllers
import Dispatch
import Ground
import LiveQuery
import Logging
import Store
import Synchronization

/// The databases of a server. A database in a folder is opened by its first client, and closed when it has been unused
/// for a while.
///
/// Any thread: one lock, which is not held while files are opened and closed.
final class Databases: Sendable {
  /// The database of a server that has one: it is open from the start to the end.
  let only: DatabaseUse?
  let access: DatabaseAccess
  let places: DatabasePlaces
  let configuration: ServerConfiguration
  let surroundings: ServedDatabase.Surroundings
  let state = Mutex(State())
  /// Open and close files. One queue does everything that concerns a database, in order.
  let queues = (0..<4).map { DispatchQueue(label: "freshet.databases.\($0)") }
  private let work = DispatchGroup()
  /// The thread that publishes all databases of a folder, or makes them. Set before the first client.
  var replicated: Replicated { replication.withLock { $0 } }
  private let replication = Mutex(Replicated.none)

  typealias Reply = @Sendable (Result<DatabaseUse, FreshetError>) -> Void

  init(_ configuration: ServerConfiguration, _ surroundings: ServedDatabase.Surroundings) throws(ServerError) {
    self.configuration = configuration
    self.surroundings = surroundings
    access = DatabaseAccess(configuration)
    places = configuration.places ?? DatabasePlaces()
    only =
      configuration.places == nil
      ? DatabaseUse(try ServedDatabase(nil, configuration, access.doors(of: nil), surroundings)) : nil
  }

  // MARK: - Looking

  /// The database that a request leads to.
  ///
  /// - Parameter name: the one in its path.
  /// - Throws: `no_such_database`, also where the client may not know of it; `not_allowed` where its token leads
  ///   elsewhere.
  func lead(_ identity: Identity, to name: String?) throws(FreshetError) -> Lead {
    if only != nil {
      guard name == nil else { throw .noSuchDatabase }
      return Lead(name: nil, doors: access.doors(of: nil), identity: identity)
    }
    // A folder with one file in it answers the same requests as a server of one file.
    let lead = try access.lead(identity, to: name ?? (access.hasTenants ? nil : places.only?.description))
    guard let name = lead.name, isThere(name) else { throw .noSuchDatabase }
    return lead
  }

  func isThere(_ name: DatabaseName) -> Bool {
    isServed(name) && places.path(of: name) != nil && !isBeingRemoved(name)
  }

  func isBeingRemoved(_ name: DatabaseName) -> Bool { state.withLock { $0.removing.contains(name) } }

  /// Whether a file is served: in a folder of replicas, only a file that a replica makes.
  private func isServed(_ name: DatabaseName) -> Bool {
    guard case .replicated = replicated else { return true }
    return surroundings.replication?.replica(name.description) != nil
  }

  /// The databases that a client may see, sorted. The reply comes on another thread, because the folders and files are
  /// read.
  func list(for identity: Identity, _ reply: @escaping @Sendable ([DatabaseListing]) -> Void) {
    queues[0].async { [self] in
      let parts = Dictionary(
        grouping: places.names.filter { isServed($0) && access.mayUse($0, identity) }, by: queue(of:))
      let all = Mutex<[DatabaseListing]>([])
      let done = DispatchGroup()
      for (queue, names) in parts {
        queues[queue].async(group: done) { [self] in
          let part = names.compactMap(listing)
          all.withLock { $0 += part }
        }
      }
      done.notify(queue: queues[0]) { reply(all.withLock { $0.sorted { $0.name < $1.name } }) }
    }
  }

  /// On the queue of the name: it is not opened meanwhile. Closing a file that is open would take SQLite's locks from
  /// it.
  private func listing(_ name: DatabaseName) -> DatabaseListing? {
    guard let path = places.path(of: name) else { return nil }
    let isConnected = state.withLock { state in
      if state.beingClosed[name] != nil { return true }
      if case .open = state.entries[name] { return true }
      return false
    }
    return isConnected ? DatabaseListing(open: name, path) : DatabaseListing(closed: name, path)
  }

  /// Open databases.
  var open: [ServedDatabase] {
    if let only { return [only.database] }
    return state.withLock { state in
      state.entries.values.compactMap { if case .open(let open) = $0 { open.database } else { nil } }
    }
  }

  var counts: Counts { state.withLock { $0.counts } }

  /// Sessions that followers waited for have drained.
  ///
  /// - Parameter waiters: one bit for each waiter, as in `Gateway.isDrained`.
  func drained(_ waiters: UInt64) {
    if let only { return only.database.sessionsDrained(waiters) }
    let waiting = state.withLock { state in
      state.byWaiter.indices.filter { waiters & bits(from: $0) != 0 }.flatMap { Array(state.byWaiter[$0].values) }
    }
    for database in waiting { database.sessionsDrained(waiters) }
  }

  /// The bits of the followers and the feed of a database whose first bit is given.
  private func bits(from waiter: Int) -> UInt64 {
    let own: UInt64 = waiterCount < 64 ? 1 << UInt64(waiterCount) - 1 : .max
    return own << UInt64(waiter) | own >> UInt64(64 - waiter)
  }

  private var waiterCount: Int { min(configuration.limits.followers, ControllerPool.mostFollowers) + 1 }

  // MARK: - Using

  private enum Step {
    case use(ServedDatabase)
    case refuse(FreshetError)
    /// The limit of open databases is reached, and all of them are in use.
    case tryAgain
    case open(waiter: Int, closing: DatabaseName?)
    case wait
  }

  /// Begins to use a database, and opens it if needed.
  ///
  /// - Parameter later: called with the answer on another thread where the database has to be opened first.
  /// - Returns: nil when the answer comes later. An error is `overloaded`, `shutting_down` or `no_such_database`.
  func use(_ name: DatabaseName?, later reply: @escaping Reply) -> Result<DatabaseUse, FreshetError>? {
    guard let name else { return only.map { .success($0) } ?? .failure(.noSuchDatabase) }
    return use(name, tries: Self.tries, later: reply)
  }

  /// How often opening is tried while the limit of open databases is reached, and the pause between two tries: answers
  /// on their way still use databases.
  private static let tries = 50
  static let pause = DispatchTimeInterval.milliseconds(20)

  private func use(
    _ name: DatabaseName, tries: Int, later reply: @escaping Reply
  ) -> Result<DatabaseUse, FreshetError>? {
    let step = state.withLock { state -> Step in
      if state.isStopping { return .refuse(.stopping) }
      switch state.entries[name] {
      case .open(var open):
        open.uses += 1
        state.entries[name] = .open(open)
        return .use(open.database)
      case .opening(let replies):
        state.entries[name] = .opening(replies + [reply])
        return .wait
      case .closing(let replies):
        state.entries[name] = .closing(replies + [reply])
        return .wait
      case nil:
        var closing: DatabaseName?
        if state.entries.count >= configuration.limits.openDatabases {
          closing = state.leastRecentlyUsed
          if closing == nil { return tries > 0 ? .tryAgain : .refuse(.tooManyDatabases) }
          state.close(closing!)
        }
        state.entries[name] = .opening([reply])
        return .open(waiter: state.takeWaiter(waiterCount), closing: closing)
      }
    }
    switch step {
    case .use(let database): return .success(use(of: database, name))
    case .refuse(let error): return .failure(error)
    case .wait: break
    case .tryAgain:
      queues[0].asyncAfter(deadline: .now() + Self.pause) { [self] in
        if let result = use(name, tries: tries - 1, later: reply) { reply(result) }
      }
    case .open(let waiter, let closing):
      if let closing { perform(closing) { self.close($0) } }
      perform(name) { self.open($0, waiter: waiter) }
    }
    return nil
  }

  private func use(of database: ServedDatabase, _ name: DatabaseName) -> DatabaseUse {
    DatabaseUse(database) { [weak self] in self?.end(name) }
  }

  func perform(_ name: DatabaseName, _ step: @escaping @Sendable (DatabaseName) -> Void) {
    queues[queue(of: name)].async(group: work) { step(name) }
  }

  private func queue(of name: DatabaseName) -> Int { Int(UInt(bitPattern: name.hashValue) % UInt(queues.count)) }

  private func open(_ name: DatabaseName, waiter: Int) {
    let result = opened(name, waiter: waiter)
    let (replies, isStopping) = state.withLock { state -> ([Reply], Bool) in
      guard case .opening(let replies) = state.entries[name] else { return ([], true) }
      switch result {
      case .success(let database):
        state.counts.opened += 1
        state.entries[name] = .open(Open(database: database, uses: replies.count, idleSince: .distantPast))
        state.byWaiter[waiter][name] = database
      case .failure:
        state.counts.failed += 1
        state.entries[name] = nil
      }
      return (replies, state.isStopping)
    }
    switch result {
    case .failure(let error): for reply in replies { reply(.failure(error)) }
    case .success(let database):
      // The server may have been stopped before the database was open.
      if isStopping { database.drain() } else { database.start() }
      for reply in replies { reply(.success(use(of: database, name))) }
    }
  }

  private func opened(_ name: DatabaseName, waiter: Int) -> Result<ServedDatabase, FreshetError> {
    guard let path = places.path(of: name) else { return .failure(.noSuchDatabase) }
    let logger = surroundings.logger
    do throws(ServerError) {
      let database = try ServedDatabase(
        name, access.configuration(of: name, at: path, configuration), access.doors(of: name), waiter: waiter,
        surroundings)
      logger.info("opened the database \(name)")
      return .success(database)
    } catch {
      logger.error("the database \(name): \(error)")
      return .failure(FreshetError(.overloaded, "the database \(name) cannot be opened at the moment"))
    }
  }

  // MARK: - Replication

  enum Replicated: Sendable {
    case none
    case published(PublishedFolder)
    case replicated(ReplicatedFolder)
  }

  /// Starts to publish the databases of a folder, or to make them. To be called once, when clients can come.
  func startReplication() {
    guard only == nil, let replication = surroundings.replication else { return }
    switch replication.part {
    case .publisher:
      let folder = PublishedFolder(self, replication, logger: surroundings.logger)
      self.replication.withLock { $0 = .published(folder) }
      folder.start()
    case .replica:
      let folder = ReplicatedFolder(self, replication, logger: surroundings.logger)
      self.replication.withLock { $0 = .replicated(folder) }
      folder.start()
    }
  }

  private func stopReplication() {
    switch replicated {
    case .none: break
    case .published(let folder): folder.stop()
    case .replicated(let folder): folder.stop()
    }
    // The replication objects hold a reference to this object.
    replication.withLock { $0 = .none }
    surroundings.replication?.stop()
  }

  // MARK: - The end

  /// Waits until the writes that clients asked for are done and answered; later ones are refused. Blocks.
  func drain() {
    state.withLock { $0.isStopping = true }
    let open = open
    DispatchQueue.concurrentPerform(iterations: open.count) { open[$0].drain() }
  }

  /// After `drain`, when no client is left. Blocks.
  func stop() {
    work.wait()
    stopReplication()
    let open = open
    DispatchQueue.concurrentPerform(iterations: open.count) { open[$0].stop() }
  }

  /// The server cannot start.
  func abandon() {
    only?.database.abandon()
    surroundings.replication?.stop()
  }
}

/// A use of a database by a session, a stream or a request, as long as it lives.
final class DatabaseUse: Sendable {
  let database: ServedDatabase
  private let ended: @Sendable () -> Void

  init(_ database: ServedDatabase, ended: @escaping @Sendable () -> Void = {}) {
    self.database = database
    self.ended = ended
  }

  deinit { ended() }
}

extension FreshetError {
  static let noSuchDatabase = FreshetError(.noSuchDatabase, "there is no such database")
  static let stopping = FreshetError(.shuttingDown, "the server is stopping")
  static let tooManyDatabases = FreshetError(
    .overloaded, "as many databases are in use as may be open: try again later")
}
