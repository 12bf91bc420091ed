import Controllers
import Foundation
import Gateway
import LiveQuery
import Requests
import Store

/// What a server says of itself: metrics, health and readiness, and what it does, for a page that shows it.
///
/// Any thread.
final class ServerReports: Sendable {
  let gateway: Gateway
  let pool: ControllerPool
  /// Nil when clients may not write.
  let transactions: (any ClientTransactions)?
  /// Nil when the file is not replicated.
  let replication: ServerReplication?
  let doors: Doors
  let rejections: Rejections
  /// Sessions and subscriptions by role.
  let roles = RoleCounts()
  /// Nil: there is none.
  let accessLog: AccessLog?
  private let database: String
  private let followers = FollowerReports()
  /// Seconds since 1970.
  let startTime = Date().timeIntervalSince1970

  init(
    of database: String, _ gateway: Gateway, _ pool: ControllerPool, _ transactions: (any ClientTransactions)?,
    _ replication: ServerReplication?, _ doors: Doors, _ rejections: Rejections, _ accessLog: AccessLog?
  ) {
    self.database = database
    self.gateway = gateway
    self.pool = pool
    self.transactions = transactions
    self.replication = replication
    self.doors = doors
    self.rejections = rejections
    self.accessLog = accessLog
  }

  /// The name of the served file.
  var fileName: String { URL(fileURLWithPath: database).lastPathComponent }

  /// Answers once every follower has sent its part, or has not in time.
  func metrics(_ reply: @escaping @Sendable (String) -> Void) {
    followers.request(of: pool) { [self] report in reply(metrics(report)) }
  }

  /// The lists that are open.
  func lists(_ reply: @escaping @Sendable (OpenLists) -> Void) {
    followers.request(of: pool) { report in reply(report.lists) }
  }

  /// Whether what clients ask can be answered: the followers are asked, for only they know.
  ///
  /// - Parameter reply: nil: it can.
  func readiness(_ reply: @escaping @Sendable (FreshetError?) -> Void) {
    guard doors.areOpen else { return reply(FreshetError(.shuttingDown, "the server is stopping")) }
    if let failure = replication?.readingFailure { return reply(failure) }
    // No longer than load balancers wait for an answer.
    followers.request(of: pool, patience: .milliseconds(1_500)) { [self] report in
      reply(report.readingFailure.map(withLockHolder))
    }
  }

  /// The failure, with the program that causes it, if one has locked the file.
  private func withLockHolder(_ failure: FreshetError) -> FreshetError {
    guard failure.code == .overloaded, let holder = FileLocks.holder(of: database) else { return failure }
    return FreshetError(.overloaded, "the database is locked by \(holder)")
  }
}
