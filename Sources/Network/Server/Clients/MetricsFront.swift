import Gateway
import LiveQuery
import Logging

/// The delegate of the gateway that serves metrics, health and readiness at an address of their own, on a thread of its
/// own: they are answered even while the clients' gateway is busy.
final class MetricsFront: GatewayDelegate {
  private let reports: ServerReports
  private let policy: OriginPolicy
  private let logger: Logger

  init(_ reports: ServerReports, _ policy: OriginPolicy, _ logger: Logger) {
    self.reports = reports
    self.policy = policy
    self.logger = logger
  }

  func gateway(_ gateway: Gateway, requested request: HTTPRequest, as id: RequestID) {
    let exchange = HTTPExchange(
      request: request, identity: .anonymous, id: id, gateway: gateway, origins: CrossOrigin(request, allowed: []))
    let (routes, _) = Route.at(request.path)
    if let refusal = policy.refusal(of: request) { return exchange.answer(.problem(.notAllowed, refusal.message)) }
    guard let route = routes.first, Route.ofMetrics.contains(route) else {
      return exchange.answer(.problem(.notFound, "there is nothing at \(request.path)"))
    }
    exchange.answer(at: [route]) { reports.answer($0, exchange) }
  }

  func gateway(_ gateway: Gateway, shouldRefuse handshake: HTTPRequest) -> Int? { 403 }
  func gateway(_ gateway: Gateway, opened session: ChannelID, with handshake: HTTPRequest) {}
  func gateway(_ gateway: Gateway, received message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool { true }
  func gateway(_ gateway: Gateway, drainedFor waiters: UInt64) {}
  func gateway(_ gateway: Gateway, notified value: UInt64, of channel: ChannelID) {}
  func gateway(_ gateway: Gateway, closed channel: ChannelID) {}
  func gateway(_ gateway: Gateway, abandoned request: RequestID) {}

  func gateway(_ gateway: Gateway, logged line: String, level: GatewayLogLevel) { logger.log(line, level) }
}
