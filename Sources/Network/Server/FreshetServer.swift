import Controllers
package import Following
import Gateway
package import LiveQuery
package import Logging
import Requests

/// A running server, from opening the file to the end of the last thread: the gateway, the controllers and the writer.
///
/// Everything in it is constant after `init`, or guards itself.
package final class FreshetServer: Sendable {
  private let configuration: ServerConfiguration
  private let logger: Logger
  private let gateway: Gateway
  /// Serves metrics, health and readiness, where they have an address of their own.
  private let metricsGateway: Gateway?
  private let databases: Databases
  /// Shared by all databases.
  private let readers: Readers
  private let door: FrontDoor
  private let routes: Routes
  /// Nil: no access log.
  private let accessLog: AccessLog?
  private let auditLog: AuditLog?

  /// Opens the database, starts the followers and listens. If there are several databases, each is opened by its first
  /// client.
  ///
  /// - Throws: `ServerError` with one sentence for the operator.
  package init(_ configuration: ServerConfiguration, logger: Logger) throws {
    if let mistake = configuration.accessMistake { throw ServerError(mistake) }
    self.configuration = configuration
    self.logger = logger
    door = FrontDoor(configuration, logger: logger)
    accessLog = try configuration.logs.access.map { destination throws(ServerError) in
      try AccessLog(destination, logger: logger)
    }
    auditLog = try configuration.logs.audit.map { destination throws(ServerError) in
      try AuditLog(destination, patience: configuration.logs.auditPatience, logger: logger)
    }
    do throws(GatewayError) {
      gateway = try Gateway(configuration: GatewayConfiguration(configuration))
      metricsGateway = try configuration.listening.metricsAddress.map { address throws(GatewayError) in
        try Gateway(configuration: GatewayConfiguration(metricsAt: address))
      }
    } catch { throw ServerError(error.message) }
    let rejections = Rejections()
    let replication = try configuration.replication(logger)
    readers = Readers(count: max(1, configuration.limits.readers))
    do {
      databases = try Databases(
        configuration,
        .init(
          gateway: gateway, rejections: rejections, auditLog: auditLog, readers: readers, replication: replication,
          logger: logger))
    } catch {
      replication?.stop()
      throw error
    }
    let reports = ServerReports(gateway, databases, door, rejections, accessLog)
    routes = Routes(reports, ClientFiles(in: configuration.pages.clientDirectory))
    do throws(GatewayError) { try start(reports) } catch {
      metricsGateway?.stop()
      databases.abandon()
      readers.stop()
      throw ServerError(error.message)
    }
    accessLog?.start()
    auditLog?.start()
    databases.only?.database.start()
    routes.reports.start()
    replication?.start()
    databases.startReplication()
  }

  private func start(_ reports: ServerReports) throws(GatewayError) {
    let clocks = configuration.clocks
    let authenticator = configuration.authentication.map {
      Authenticator(
        $0, roles: databases.access.roleNames, date: clocks.wall, clock: clocks.monotonic, logger: logger)
    }
    let limits = UsageLimits(
      configuration.limits, roles: databases.access.limits, clock: { [gateway] in gateway.now })
    let bounds = SessionBounds(configuration.limits, wallClock: clocks.wall, clock: clocks.monotonic)
    let metricsPolicy = OriginPolicy(
      allowed: [], hosts: configuration.pages.allowedHosts,
      isLoopback: configuration.listening.metricsAddress?.isLoopback ?? true)
    try metricsGateway?.start(MetricsFront(reports, metricsPolicy, logger))
    try gateway.start { thread in
      Clients(thread, reports, authenticator, limits, routes, bounds, logger: logger)
    }
  }

  /// Logs who may read and write what. To be called once, at the start.
  package func logAccess() {
    let report = AccessReport(configuration, isWritable: databases.only?.database.isWritable)
    logger.info("access: \(report.sentence)")
    for warning in report.warnings { logger.warning("\(warning)") }
    for rule in configuration.databases.rules where configuration.places != nil {
      var ruled = configuration
      ruled.access = rule.access
      logger.info("access to the databases \(rule.pattern): \(AccessReport(ruled).sentence)")
    }
  }

  /// The pool of a server with one database.
  var pool: ControllerPool {
    guard let only = databases.only else { preconditionFailure("the server has several databases") }
    return only.database.pool
  }

  /// The epochs of the file's states, where there is one file.
  package var epochs: FileEpochs { pool.file.epochs }

  /// Begins another epoch of the same file: earlier versions are no longer honoured, and every session gets another
  /// `hello`. Any thread.
  ///
  /// - Parameter epoch: its name; nil for a new unique name.
  package func beginEpoch(_ epoch: String? = nil) { pool.beginEpoch(epoch) }

  /// Calls back when all lists can show a commit of an epoch or a later one. Any thread; any number may wait.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait at most.
  ///   - reply: called once, on a thread that must not be kept: with the commit; `timeout`, or `overloaded` when the
  ///     server stops.
  package func whenReached(
    _ commit: Int64, epoch: String, timeout: Duration,
    reply: @escaping @Sendable (Result<Int64, FreshetError>) -> Void
  ) {
    pool.whenReached(commit, epoch: epoch, timeout: timeout, reply: reply)
  }

  package var port: Int { gateway.port }
  /// The scheme of its address.
  package var scheme: String { configuration.listening.certificate == nil ? "http" : "https" }
  /// The port of the address for metrics; nil when they have none of their own.
  package var metricsPort: Int? { metricsGateway?.port }

  /// Reads and opens again what SIGHUP is for: certificates and logs, whose files may have been renamed. Any thread.
  package func hangUp() {
    accessLog?.reopen()
    auditLog?.reopen()
    reloadCertificate()
    if accessLog == nil, auditLog == nil, configuration.listening.certificate == nil {
      logger.info("SIGHUP: there are no logs to open and no certificate to read again")
    }
  }

  /// Reads the files of the certificate again. Errors are logged, and the old certificate stays.
  package func reloadCertificate() {
    guard configuration.listening.certificate != nil else { return }
    do throws(GatewayError) {
      try gateway.reloadCertificate()
      logger.info("the certificate was read again")
    } catch {
      logger.warning("the certificate stays as it was: \(error.message)")
    }
  }

  /// Stops in order: not ready, no new connections, transactions that were asked for are run and answered, and later
  /// ones refused; waiting reads are answered, every session is closed with 1001, and the threads end.
  ///
  /// Blocks for at most `grace`, plus `transactionGrace` while transactions run, and the same again until lists show
  /// their states.
  package func stop() {
    door.close()
    routes.reports.history.stop()
    gateway.stopListening()
    databases.drain()
    routes.snapshotRequests.stop()
    gateway.stop(code: 1001, reason: "the server is stopping", grace: configuration.ending.grace)
    databases.stop()
    readers.stop()
    metricsGateway?.stop()
    accessLog?.stop(grace: configuration.ending.grace)
    auditLog?.stop(grace: configuration.ending.grace)
  }
}

/// The reason why a server cannot start, as one sentence.
package struct ServerError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }

  static func sentence(of error: any Error) -> String {
    (error as? FreshetError)?.message ?? "\(error)"
  }
}
