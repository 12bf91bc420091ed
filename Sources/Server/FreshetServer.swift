import Controllers
import Foundation
import Gateway
import LiveQuery
package import Logging
import Synchronization
import Wire

/// A running server: gateway in front, controllers behind, a writer aside.
///
/// Everything in it is constant after `init`, or guards itself.
package final class FreshetServer: Sendable {
  let configuration: ServerConfiguration
  let logger: Logger
  let sessions = Sessions()
  let snapshotRequests = SnapshotRequests()
  let output: SessionOutput
  let pool: ControllerPool
  /// Nil when clients may not write.
  let transactions: TransactionQueue?
  let greeting: Greeting
  /// Nil when everybody is anonymous.
  let authenticator: Authenticator?
  let serviceWork = ServiceWork()
  let rejections = Rejections()
  let records = ClientRecords()
  let followerReports = FollowerReports()
  /// Nil: there is none.
  let accessLog: AccessLog?
  let auditLog: AuditLog?
  let isReady = Atomic<Bool>(true)
  /// Seconds since 1970.
  let startTime = Date().timeIntervalSince1970
  let gateway: Gateway

  /// Opens the database, starts the followers and listens.
  ///
  /// - Throws: `ServerError` with one sentence for the operator.
  package init(_ configuration: ServerConfiguration, logger: Logger) throws {
    self.configuration = configuration
    self.logger = logger
    greeting = Greeting(configuration)
    authenticator = configuration.authentication.map {
      Authenticator($0, date: configuration.wallClock, clock: configuration.clock, logger: logger)
    }
    accessLog = try configuration.accessLog.map { destination throws(ServerError) in
      try AccessLog(destination, logger: logger)
    }
    auditLog = try configuration.auditLog.map { destination throws(ServerError) in
      try AuditLog(destination, patience: configuration.auditPatience, logger: logger)
    }
    do throws(GatewayError) {
      gateway = try Gateway(configuration: FreshetServer.gatewayConfiguration(configuration))
    } catch { throw ServerError(error.message) }
    do {
      transactions = configuration.needsWriter ? try TransactionQueue(configuration, auditLog) : nil
      output = SessionOutput(gateway, transactions, greeting, rejections)
      pool = try ControllerPool(
        FollowerConfiguration(configuration), followers: configuration.followers, readers: configuration.readers,
        output: output, logger: logger)
    } catch {
      throw ServerError("cannot open \(configuration.database): \(ServerError.sentence(of: error))")
    }
    do throws(GatewayError) { try gateway.start(SessionFront(self)) } catch {
      pool.stop()
      throw ServerError(error.message)
    }
    accessLog?.start()
    auditLog?.start()
    checkPublishedQueries()
  }

  /// Warns of published queries that this database cannot answer; they stay, for the schema may change.
  private func checkPublishedQueries() {
    for published in configuration.queries.list {
      let query = published.sample
      pool.follower(for: query).post(
        .explain(query) { [logger] result in
          guard case .failure(let error) = result else { return }
          logger.warning("the published query \(published.name) cannot be answered: \(error.message)")
        })
    }
  }

  private static func gatewayConfiguration(_ configuration: ServerConfiguration) -> GatewayConfiguration {
    var result = GatewayConfiguration()
    result.host = configuration.host
    result.port = configuration.port
    result.publicDirectory = configuration.publicDirectory
    result.routes = Route.prefixes
    // The last one has nginx pass on events as they come.
    result.streamHeaders = [
      ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
    ]
    result.heartbeatAfter = configuration.heartbeat
    result.messageLimit = configuration.messageLimit
    result.bodyLimit = configuration.messageLimit
    result.messageRate = configuration.messagesPerSecond
    result.messageBurst = 5 * configuration.messagesPerSecond
    result.addressLimit = configuration.connectionsPerAddress ?? 1_000
    result.limitsLoopback = configuration.connectionsPerAddress != nil
    result.headTimeout = configuration.headTimeout
    result.bodyTimeout = configuration.bodyTimeout
    result.bodyRate = configuration.bodyRate
    result.readTimeout = configuration.readTimeout
    result.outgoingLimit = configuration.outgoingMemory
    result.staticHeaders = [
      (
        "Content-Security-Policy",
        "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
      ),
      ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"),
    ]
    return result
  }

  package var port: Int { gateway.port }

  /// Stops in order: not ready, no new connections, what was asked to be written is written, every session is closed with 1001, and
  /// the threads end. Blocks for `grace` at most, and `transactionGrace` for transactions that run.
  package func stop() {
    isReady.store(false, ordering: .relaxed)
    gateway.stopListening()
    transactions?.drain(grace: configuration.grace)
    snapshotRequests.stop()
    gateway.stop(code: 1001, reason: "the server is stopping", grace: configuration.grace)
    pool.stop()
    accessLog?.stop(grace: configuration.grace)
    auditLog?.stop(grace: configuration.grace)
  }
}

/// What keeps a server from starting, as one sentence.
package struct ServerError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }

  static func sentence(of error: any Error) -> String {
    (error as? FreshetError)?.message ?? "\(error)"
  }
}
