import Broker
import Ground
import LiveQuery
import Logging
import Replication

/// Makes all databases that a log has in a folder, and puts aside those that are gone from it. It has a thread of its
/// own, which reads the list that the writer's server puts into the log.
final class ReplicatedFolder: Sendable {
  private let databases: Databases
  private let replication: ServerReplication
  private let index: DatabaseIndex
  private let logger: Logger
  private let worker = Worker()

  init(_ databases: Databases, _ replication: ServerReplication, logger: Logger) {
    self.databases = databases
    self.replication = replication
    self.logger = logger
    index = DatabaseIndex(replication.broker)
  }

  func start() {
    worker.start { [self] in
      // The files that exist are served even while the broker cannot be reached.
      for name in databases.places.names { make(name) }
      var trouble = ""
      while !worker.mustStop {
        do throws(BrokerError) { try follow() } catch {
          if error.message != trouble { logger.warning("waiting for the list of databases: \(error.message)") }
          trouble = error.message
          worker.rest(milliseconds: 250)
        }
      }
    }
  }

  func stop() { worker.stop() }

  private func follow() throws(BrokerError) {
    guard let end = try index.end() else { throw BrokerError(.notFound, "the log has no databases yet") }
    let notices = try index.read()
    var idle: Int64 = 0
    while !worker.mustStop {
      guard let message = try notices.next(timeout: 100) else {
        idle += 100
        // The stream may have been replaced.
        if idle > 2_000, idle % 2_000 == 0, try index.end() ?? 0 < end { return }
        continue
      }
      if let notice = DatabaseIndex.Notice(message), let name = DatabaseName(notice.name) {
        if notice.isRemoved { remove(name) } else { make(name) }
      }
      if message.sequence >= end { replication.noteListed() }
    }
  }

  private func make(_ name: DatabaseName) {
    if replication.replica(name.description) != nil { return }
    guard let path = databases.places.path(of: name) ?? databases.places.newPath(of: name) else {
      return logger.error("a replica of \(name) cannot be made: something is in its place")
    }
    do {
      try DatabasePlaces.makeFolder(of: path)
      try replication.makeReplica(name.description, at: path, logger: logger) { [logger] error in
        logger.error("\(error)")
      }
    } catch { logger.error("a replica of \(name) cannot be made: \(error)") }
  }

  private func remove(_ name: DatabaseName) {
    if replication.endReplica(name.description) { databases.putAside(name) }
  }
}
