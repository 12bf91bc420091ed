import Dispatch
import Ground
import LiveQuery
import Logging
import Synchronization

// Databases that clients make and remove.
extension Databases {
  /// Makes a database. The reply comes on another thread.
  func make(
    _ name: DatabaseName, by actor: LogActor,
    _ reply: @escaping @Sendable (Result<DatabaseListing, FreshetError>) -> Void
  ) {
    if let error = refusalOfReplica { return reply(.failure(error)) }
    guard let new = configuration.newDatabases else {
      return reply(.failure(FreshetError(.notAllowed, "this server makes no databases: it has no newDatabases")))
    }
    perform(name) { [self] name in
      do throws(FreshetError) {
        reply(.success(try audited(.make, by: actor) { () throws(FreshetError) in try make(name, new) }))
      } catch { reply(.failure(error)) }
    }
  }

  private func make(_ name: DatabaseName, _ new: NewDatabases) throws(FreshetError) -> DatabaseListing {
    guard places.path(of: name) == nil else {
      throw FreshetError(.constraint, "there is a database of this name already")
    }
    guard let path = places.newPath(of: name) else {
      throw FreshetError(.notAllowed, "this server has no folder for a database of this name")
    }
    try new.make(at: path)
    guard let listing = DatabaseListing(closed: name, path) else { throw .noSuchDatabase }
    surroundings.logger.notice("made the database \(name)")
    if case .published(let folder) = replicated { folder.noteMade() }
    return listing
  }

  /// Runs an action with a line of the audit log before and after it.
  private func audited<Value>(
    _ action: DatabaseAction, by actor: LogActor, _ body: () throws(FreshetError) -> Value
  ) throws(FreshetError) -> Value {
    guard let log = surroundings.auditLog else { return try body() }
    let clock = configuration.clocks.monotonic
    let (begun, start) = (try log.begin(.init(actor: actor, subject: .database(action))), clock.now)
    do throws(FreshetError) {
      let value = try body()
      log.done(begun, clock.now - start)
      return value
    } catch {
      log.failed(begun, error.code, clock.now - start)
      throw error
    }
  }

  /// Records that a client may not do that.
  func noteRefused(_ name: DatabaseName, _ action: DatabaseAction, by actor: LogActor) {
    guard let log = surroundings.auditLog else { return }
    perform(name) { _ in log.refused(.init(actor: actor, subject: .database(action)), .notAllowed) }
  }

  /// Takes a database away from its clients, and moves its files into the folder `.removed` in the same folder.
  ///
  /// - Parameter reply: called on another thread, with what went wrong.
  func remove(
    _ name: DatabaseName, by actor: LogActor, _ reply: @escaping @Sendable (FreshetError?) -> Void
  ) {
    if let error = refusalOfReplica { return reply(error) }
    let move = { @Sendable [self] (name: DatabaseName) -> FreshetError? in
      do throws(FreshetError) {
        try audited(.remove, by: actor) { () throws(FreshetError) in if let error = self.move(name) { throw error } }
        return nil
      } catch { return error }
    }
    guard isThere(name), takeAway(name, then: move, reply) else { return reply(.noSuchDatabase) }
    if case .published(let folder) = replicated { folder.release(name) }
  }

  /// The error at a replica: databases are made and removed at the writer's server.
  private var refusalOfReplica: FreshetError? {
    guard case .replica? = surroundings.replication?.part else { return nil }
    return FreshetError(.notAllowed, "this server has copies: databases are made and removed at the writer's server")
  }

  /// Ends the sessions and streams of a database whose file is gone, and closes it.
  func end(sessionsOf name: DatabaseName, _ reply: @escaping @Sendable () -> Void) {
    if takeAway(name, then: { _ in nil }, { _ in reply() }) { return }
    // Clients still use the database: try again after a pause.
    queues[0].asyncAfter(deadline: .now() + Self.pause) { self.end(sessionsOf: name, reply) }
  }

  /// Takes a database away from its clients and moves its files, because no replica makes it any more.
  func putAside(_ name: DatabaseName) {
    _ = takeAway(name, then: { self.move($0) }) { _ in }
  }

  /// Ends the sessions and streams of a database until it is unused, closes it, and then runs `next`.
  ///
  /// - Returns: false if that has begun already.
  private func takeAway(
    _ name: DatabaseName, then end: @escaping @Sendable (DatabaseName) -> FreshetError?,
    _ reply: @escaping @Sendable (FreshetError?) -> Void
  ) -> Bool {
    guard state.withLock({ $0.removing.insert(name).inserted }) else { return false }
    takeAway(name, tries: 250, then: end) { [self] error in
      state.withLock { _ = $0.removing.remove(name) }
      reply(error)
    }
    return true
  }

  private func takeAway(
    _ name: DatabaseName, tries: Int, then end: @escaping @Sendable (DatabaseName) -> FreshetError?,
    _ reply: @escaping @Sendable (FreshetError?) -> Void
  ) {
    perform(name) { [self] name in
      let (isStopping, open) = state.withLock { state -> (Bool, Open?) in
        guard !state.isStopping, case .open(let open)? = state.entries[name] else { return (state.isStopping, nil) }
        if open.uses == 0 { state.close(name) }
        return (false, open)
      }
      if let open, open.uses > 0 {
        open.database.output.end(.noSuchDatabase)
        guard tries > 0 else { return reply(FreshetError(.overloaded, "the database is in use: try again")) }
        queues[0].asyncAfter(deadline: .now() + Self.pause) { [self] in
          takeAway(name, tries: tries - 1, then: end, reply)
        }
        return
      }
      if isStopping { return reply(.stopping) }
      if open != nil { close(name) }
      reply(end(name))
    }
  }

  private func move(_ name: DatabaseName) -> FreshetError? {
    guard let path = places.path(of: name) else { return .noSuchDatabase }
    do throws(ServerError) { try RemovedDatabase.move(path) } catch {
      surroundings.logger.error("the database \(name) cannot be removed: \(error)")
      return FreshetError(.internal, "the database cannot be removed")
    }
    surroundings.logger.notice("removed the database \(name): its files are in .removed, beside where they were")
    return nil
  }
}
