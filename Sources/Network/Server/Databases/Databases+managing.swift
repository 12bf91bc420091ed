import Dispatch
import LiveQuery
import Logging
import Synchronization

// Databases that clients make and remove.
extension Databases {
  /// Makes a database. The reply comes on another thread.
  func make(_ name: DatabaseName, _ reply: @escaping @Sendable (Result<DatabaseListing, FreshetError>) -> Void) {
    guard let new = configuration.newDatabases else {
      return reply(.failure(FreshetError(.notAllowed, "this server makes no databases: it has no newDatabases")))
    }
    perform(name) { [self] name in
      do throws(FreshetError) {
        guard places.path(of: name) == nil else {
          throw FreshetError(.constraint, "there is a database of this name already")
        }
        guard let path = places.newPath(of: name) else {
          throw FreshetError(.notAllowed, "this server has no folder for a database of this name")
        }
        try new.make(at: path)
        guard let listing = DatabaseListing(closed: name, path) else { throw .noSuchDatabase }
        surroundings.logger.notice("made the database \(name)")
        reply(.success(listing))
      } catch { reply(.failure(error)) }
    }
  }

  /// Takes a database away from its clients, and moves its files into the folder `.removed` beside it.
  ///
  /// - Parameter reply: called on another thread, with what went wrong.
  func remove(_ name: DatabaseName, _ reply: @escaping @Sendable (FreshetError?) -> Void) {
    guard isThere(name), state.withLock({ $0.removing.insert(name).inserted }) else { return reply(.noSuchDatabase) }
    takeAway(name, tries: 250) { [self] error in
      state.withLock { _ = $0.removing.remove(name) }
      reply(error)
    }
  }

  /// Ends the sessions and streams of a database until nobody uses it, closes it and moves its files.
  private func takeAway(_ name: DatabaseName, tries: Int, _ reply: @escaping @Sendable (FreshetError?) -> Void) {
    perform(name) { [self] name in
      let open = state.withLock { state -> Open? in
        guard case .open(let open)? = state.entries[name] else { return nil }
        if open.uses == 0 { state.close(name) }
        return open
      }
      if let open, open.uses > 0 {
        open.database.output.end(.noSuchDatabase)
        guard tries > 0 else { return reply(FreshetError(.overloaded, "the database is in use: try again")) }
        queues[0].asyncAfter(deadline: .now() + Self.pause) { [self] in takeAway(name, tries: tries - 1, reply) }
        return
      }
      if open != nil { close(name) }
      reply(move(name))
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
