import Controllers
import Dispatch
import Foundation
import Gateway
import LiveQuery
import Requests
import Store
import Synchronization

/// A server's reports on itself: metrics, health and readiness, and its state for the page "Server".
///
/// Any thread.
final class ServerReports: Sendable {
  let gateway: Gateway
  let databases: Databases
  let door: FrontDoor
  let rejections: Rejections
  /// Sessions and subscriptions by role.
  let roles = RoleCounts()
  /// Nil: no access log.
  let accessLog: AccessLog?
  let history = MetricsHistory()
  /// Seconds since 1970.
  let startTime = Date().timeIntervalSince1970

  init(
    _ gateway: Gateway, _ databases: Databases, _ door: FrontDoor, _ rejections: Rejections, _ accessLog: AccessLog?
  ) {
    self.gateway = gateway
    self.databases = databases
    self.door = door
    self.rejections = rejections
    self.accessLog = accessLog
  }

  /// Keeps the history of metrics until the server stops. The timer holds no reference to the server.
  func start() {
    history.start(count: { [weak self] in self?.databases.open.count ?? 0 }) { [weak self] reply in
      self?.metrics(reply)
    }
  }

  /// Answers once every follower of the databases that are open has sent its part, or its time is up.
  func metrics(_ reply: @escaping @Sendable (String) -> Void) {
    let open = databases.open
    let reports = Mutex<[FollowerReport]>([])
    let done = DispatchGroup()
    for database in open {
      done.enter()
      database.followers.request(of: database.pool) { report in
        reports.withLock { $0.append(report) }
        done.leave()
      }
    }
    done.notify(queue: .global()) { [self] in reply(metrics(FollowerReport(reports.withLock { $0 }), open)) }
  }

  /// The lists of a database that are open.
  func lists(of database: ServedDatabase, _ reply: @escaping @Sendable (OpenLists) -> Void) {
    database.followers.request(of: database.pool) { report in reply(report.lists) }
  }

  /// Whether queries can be answered, which only the followers know. A server with several databases is ready whatever
  /// their state.
  ///
  /// - Parameter reply: nil: it can.
  func readiness(_ reply: @escaping @Sendable (FreshetError?) -> Void) {
    guard door.isOpen else { return reply(.stopping) }
    if let failure = databases.surroundings.replication?.readingFailure { return reply(failure) }
    guard let database = databases.only?.database else { return reply(nil) }
    // The patience is shorter than load balancers wait for an answer.
    database.followers.request(of: database.pool, patience: .milliseconds(1_500)) { report in
      reply(report.readingFailure.map(database.withLockHolder))
    }
  }

  /// Whether clients' transactions would be accepted; nil: clients may not write, or there are several databases.
  var isWritable: Bool? { databases.only?.database.transactions?.isWritable }
}

extension ServedDatabase {
  /// The failure, with the program that causes it, if one has locked the file.
  fileprivate func withLockHolder(_ failure: FreshetError) -> FreshetError {
    guard failure.code == .overloaded, let holder = FileLocks.holder(of: path) else { return failure }
    return FreshetError(.overloaded, "the database is locked by \(holder)")
  }
}
