import Controllers
import Following
import Gateway
import Logging
import Requests

/// The clients of one service thread: reads their messages, on that thread, and passes them on.
///
/// Everything in it is constant after `init`, or guards itself, except `sessions` and `records`, which only the service
/// thread uses.
final class Clients: GatewayDelegate {
  /// The number of the service thread.
  private let number: Int
  let databases: Databases
  private let door: FrontDoor
  /// Nil when all clients are anonymous.
  let authenticator: Authenticator?
  let reports: ServerReports
  let limits: UsageLimits
  let routes: Routes
  let sessions: Sessions
  let records: ClientRecords
  let bounds: SessionBounds
  private let work = ServiceWork()
  private let logger: Logger

  var gateway: Gateway { reports.gateway }

  init(
    _ number: Int, _ reports: ServerReports, _ authenticator: Authenticator?, _ limits: UsageLimits, _ routes: Routes,
    _ bounds: SessionBounds, logger: Logger
  ) {
    self.number = number
    self.reports = reports
    databases = reports.databases
    door = reports.door
    self.authenticator = authenticator
    self.limits = limits
    self.routes = routes
    self.bounds = bounds
    self.logger = logger
    sessions = Sessions(reports.gateway, limits)
    records = ClientRecords(reports.roles)
  }

  /// Runs a step on the service thread. Any thread; it does not run once the gateway has stopped.
  func post(_ step: @escaping @Sendable () -> Void) { work.post(step, to: gateway, thread: number) }

  func gateway(_ gateway: Gateway, secondsUntilAdmitting client: ClientAddress) -> Int {
    limits.secondsUntilAdmitting(client)
  }

  func gateway(_ gateway: Gateway, shouldRefuse handshake: HTTPRequest) -> Int? {
    guard door.isOpen else { return 503 }
    if door.refusal(of: handshake) != nil { return 403 }
    return refusal(of: handshake)
  }

  func gateway(_ gateway: Gateway, opened session: ChannelID, with handshake: HTTPRequest) {
    sessions.open(session, for: handshake.client, database: DatabasePath(handshake.path).name)
    if let only = databases.only { enter(only, session) }
    identify(session, handshake)
    noteOpening(session, handshake)
  }

  /// Gives a session its database, and greets it.
  func enter(_ use: DatabaseUse, _ session: ChannelID) {
    sessions.enter(use, session)
    use.database.output.greet(session)
  }

  func gateway(_ gateway: Gateway, received message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool {
    if sessions[session]?.who.hold(message) == true { return false }
    return receive(message, from: session)
  }

  func gateway(_ gateway: Gateway, drainedFor waiters: UInt64) { databases.drained(waiters) }

  /// A follower has ended a subscription.
  func gateway(_ gateway: Gateway, notified number: UInt64, of channel: ChannelID) {
    if channel == .none { return work.run() }
    let end = SubscriptionEnd(rawValue: number)
    noteEnd(end.number, of: channel, end.code)
    sessions.remove(end.number, of: channel)
  }

  func gateway(
    _ gateway: Gateway, answered id: RequestID, with outcome: GatewayOutcome, to request: () -> RequestLine
  ) { noteAnswer(id, outcome, request) }

  func gatewayTicked(_ gateway: Gateway) { lookAtTokens() }

  func gateway(_ gateway: Gateway, closed channel: ChannelID) {
    noteClose(channel)
    let database = sessions.database(of: channel)
    sessions.close(channel)
    database?.output.forget(channel)
    database?.pool.post(.sessionClosed(channel.rawValue))
  }

  func gateway(_ gateway: Gateway, requested request: HTTPRequest, as id: RequestID) {
    let record = record(request, id)
    let origins = CrossOrigin(request, allowed: door.allowedOrigins)
    identify(request) { [self] identity in
      let exchange = HTTPExchange(
        request: request.withoutToken, identity: (try? identity.get()) ?? .anonymous, id: id, gateway: gateway,
        origins: origins, use: databases.only, record: record)
      // Health and metrics are answered whatever the token is.
      if case .failure(let error) = identity, !Route.metricsPrefixes.contains(request.path) {
        return routes.refuse(exchange, error)
      }
      routes.answer(exchange, of: self)
    }
  }

  func gateway(_ gateway: Gateway, abandoned request: RequestID) { routes.snapshotRequests.remove(request)?.abandon() }

  func gateway(_ gateway: Gateway, logged line: String, level: GatewayLogLevel) { logger.log(line, level) }
}

extension Logger {
  /// Logs a line of a gateway.
  func log(_ line: String, _ level: GatewayLogLevel) {
    let levels: [GatewayLogLevel: Logger.Level] = [.error: .error, .warning: .warning, .notice: .notice, .info: .debug]
    log(level: levels[level] ?? .debug, "\(line)")
  }
}
