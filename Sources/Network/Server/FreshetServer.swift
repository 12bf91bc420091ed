import Broker
import Controllers
package import Following
import Gateway
package import LiveQuery
package import Logging
import Replication
import Requests
import Store

/// A running server: gateway in front, controllers behind, a writer aside. Its life, from the opening of the file to the end of the last
/// thread.
///
/// Everything in it is constant after `init`, or guards itself.
package final class FreshetServer: Sendable {
  private let configuration: ServerConfiguration
  private let logger: Logger
  private let gateway: Gateway
  /// Serves metrics, health and readiness, where they have an address of their own.
  private let metricsGateway: Gateway?
  let pool: ControllerPool
  /// Nil when clients may not write.
  private let transactions: (any ClientTransactions)?
  /// Nil when the file is not replicated.
  private let replication: ServerReplication?
  private let doors: Doors
  private let routes: Routes
  /// Nil: there is none.
  private let accessLog: AccessLog?
  private let auditLog: AuditLog?
  /// Nil: nothing of transactions is kept for the next start.
  private let kept: KeptTransactions?

  /// Opens the database, starts the followers and listens.
  ///
  /// - Throws: `ServerError` with one sentence for the operator.
  package init(_ configuration: ServerConfiguration, logger: Logger) throws {
    if let mistake = configuration.accessMistake { throw ServerError(mistake) }
    self.configuration = configuration
    self.logger = logger
    doors = Doors(configuration)
    let followers = EpochFollowers(configuration.state.epochRenewed)
    let position = configuration.position
    let (keeper, kept, published) = configuration.keepers(at: position, logger)
    self.kept = kept
    let epochs = FileEpochs(startingWith: configuration.state.epoch ?? position?.epoch ?? keeper?.epoch) {
      followers.tell($0)
    }
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
    let output: SessionOutput
    do {
      let replica = try configuration.replica(logger: logger)
      let users = FileUsers(path: configuration.database)
      transactions = try configuration.transactions(auditLog, forwardingTo: replica?.broker, kept, epochs, users)
      output = SessionOutput(gateway, transactions, Greeting(configuration.limits, epochs), rejections)
      pool = try ControllerPool(
        FollowerConfiguration(configuration, keeper), followers: configuration.limits.followers,
        readers: configuration.limits.readers, output: output, epochs: epochs, users: users,
        journal: configuration.journal(logger),
        logger: logger)
      replication = try ServerReplication(
        configuration.replicationSettings, replica, pool, transactions, published,
        mustEnd: configuration.ending.mustEnd, logger: logger)
    } catch let error as BrokerError {
      throw ServerError(error.message)
    } catch let error as ForeignFile {
      throw ServerError(error.description)
    } catch {
      throw ServerError("cannot open \(configuration.database): \(ServerError.sentence(of: error))")
    }
    let reports = ServerReports(
      of: configuration.database, gateway, pool, transactions, replication, doors, rejections, accessLog)
    routes = Routes(
      reports, output, OriginRefusals(logger: logger), ClientFiles(in: configuration.pages.clientDirectory))
    let authenticator = configuration.authentication.map {
      Authenticator(
        $0, roles: Set(configuration.access.roles.keys), date: configuration.clocks.wall,
        clock: configuration.clocks.monotonic,
        logger: logger)
    }
    let clocks = configuration.clocks
    let limits = UsageLimits(
      configuration.limits, roles: configuration.access.roles.compactMapValues(\.limits),
      clock: { [gateway] in gateway.now })
    let bounds = SessionBounds(configuration.limits, wallClock: clocks.wall, clock: clocks.monotonic)
    let metricsPolicy = OriginPolicy(
      allowed: [], hosts: configuration.pages.allowedHosts,
      isLoopback: configuration.listening.metricsAddress?.isLoopback ?? true)
    do throws(GatewayError) {
      try metricsGateway?.start(MetricsFront(reports, metricsPolicy, logger))
      try gateway.start { thread in
        Clients(thread, reports, output, authenticator, limits, routes, bounds, logger: logger)
      }
    } catch {
      metricsGateway?.stop()
      pool.stop()
      published?.release()
      throw ServerError(error.message)
    }
    accessLog?.start()
    auditLog?.start()
    replication?.start()
    followers.add(replication)
    checkPublishedQueries()
    openKeptQueries()
  }

  /// Logs who may read and write what. To be called once, at the start.
  package func logAccess() {
    // A replica's file is written by this server whatever the clients may do.
    let isReplica = configuration.replication?.role == .replica
    let isThere = FileIdentity(path: configuration.database) != nil
    let report = AccessReport(configuration, isWritable: isReplica || !isThere ? nil : transactions?.isWritable)
    logger.info("access: \(report.sentence)")
    for warning in report.warnings { logger.warning("\(warning)") }
  }

  /// Opens the published queries that are kept open: once for each role that may ask them.
  private func openKeptQueries() {
    for published in configuration.access.queries.list where published.isKept {
      var query = published.sample
      query.access.isPublished = true
      let roles = configuration.access.roles.filter { $0.value.queries.contains(published.name) }.keys
      let askers: [String?] = configuration.access.roles.isEmpty || published.isUnfiltered ? [nil] : roles.sorted()
      for role in askers {
        query.access.role = role
        pool.follower(for: query).post(.keep(query))
      }
    }
  }

  /// Warns of published queries that this database cannot answer; they stay, for the schema may change.
  private func checkPublishedQueries() {
    for published in configuration.access.queries.list {
      let query = published.sample
      pool.follower(for: query).post(
        .explain(query) { [logger] result in
          guard case .failure(let error) = result else { return }
          logger.warning("the published query \(published.name) cannot be answered: \(error.message)")
        })
    }
  }

  /// The epochs of the file's states.
  package var epochs: FileEpochs { pool.file.epochs }

  /// Begins another epoch of the same file: earlier versions are no longer honoured, and every session gets another `hello`. Any
  /// thread.
  ///
  /// - Parameter epoch: its name; nil for one that no other has.
  package func beginEpoch(_ epoch: String? = nil) { pool.beginEpoch(epoch) }

  /// Calls back when all lists can show a commit of an epoch or a later one. Any thread; any number may wait.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait at most.
  ///   - reply: called once, on a thread that must not be kept: with the commit; `timeout`, or `overloaded` when the server stops.
  package func whenReached(
    _ commit: Int64, epoch: String, timeout: Duration,
    reply: @escaping @Sendable (Result<Int64, FreshetError>) -> Void
  ) {
    pool.whenReached(commit, epoch: epoch, timeout: timeout, reply: reply)
  }

  package var port: Int { gateway.port }
  /// What its address begins with.
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

  /// Reads the files of the certificate again. What is wrong with them is logged, and the old ones stay.
  package func reloadCertificate() {
    guard configuration.listening.certificate != nil else { return }
    do throws(GatewayError) {
      try gateway.reloadCertificate()
      logger.info("the certificate was read again")
    } catch {
      logger.warning("the certificate stays as it was: \(error.message)")
    }
  }

  /// Stops in order: not ready, no new connections, what was asked to be written is written and answered, and nothing else is; what was
  /// asked to be read is answered, every session is closed with 1001, and the threads end.
  ///
  /// Blocks for `grace` at most, for `transactionGrace` while transactions run, and once more until lists have their states.
  package func stop() {
    doors.close()
    gateway.stopListening()
    transactions?.drain(grace: configuration.ending.grace)
    routes.snapshotRequests.stop()
    gateway.stop(code: 1001, reason: "the server is stopping", grace: configuration.ending.grace)
    // Behind what clients wrote last, and before the followers that it numbers commits with.
    replication?.stop()
    let promises = { [transactions, kept] in transactions.map(\.kept) ?? kept?.keeper.promises }
    pool.stop { kept?.keep(promises()) }
    if transactions != nil, promises() != nil { kept?.journal.remove() }
    metricsGateway?.stop()
    accessLog?.stop(grace: configuration.ending.grace)
    auditLog?.stop(grace: configuration.ending.grace)
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
