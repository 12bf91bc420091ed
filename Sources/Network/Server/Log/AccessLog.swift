import Gateway
import Ground
import LiveQuery
import Logging
import Store
import Wire

/// One line of JSON for each request, session and subscription, with its client and outcome. No line has tokens, values
/// or SQL.
///
/// Any thread; no caller waits for the disk.
final class AccessLog: Sendable {
  private let queue: LogQueue

  /// Bytes of lines that may wait for the disk.
  private static let limit = 4 << 20

  /// - Throws: one sentence for the operator.
  init(_ destination: LogDestination, limit: Int = AccessLog.limit, logger: Logger) throws(ServerError) {
    queue = try LogQueue("access log", destination, limit: limit, logger: logger)
  }

  func start() { queue.start() }
  func reopen() { queue.reopen() }
  func stop(grace: Duration) { queue.stop(grace: grace) }

  var dropped: Int { queue.dropped }

  func answered(_ request: RequestRecord, status: Int, code: ErrorCode?, bytes: Int?, _ duration: Nanoseconds?) {
    let (actor, subject) = request.known
    queue.append(
      LogLine.make("request") { line in
        line.members(of: actor)
        line.member("method", request.method)
        line.member("path", request.path.loggable(1_024))
        line.member(subject)
        line.member("status", status)
        if let code { line.member("code", code.rawValue) }
        if let bytes { line.member("bytes", bytes) }
        if let duration { line.milliseconds(duration) }
      })
  }

  func opened(_ session: ChannelID, _ actor: LogActor) {
    queue.append(
      LogLine.make("open") { line in
        line.member("session", session.name)
        line.members(of: actor)
      })
  }

  /// - Parameter subscriptions: the number that it still had.
  func closed(_ session: ChannelID, _ actor: LogActor, subscriptions: Int, _ duration: Nanoseconds) {
    queue.append(
      LogLine.make("close") { line in
        line.member("session", session.name)
        line.members(of: actor)
        line.member("subscriptions", subscriptions)
        line.milliseconds(duration)
      })
  }

  /// - Parameter event: `subscribe` or `requery`.
  /// - Parameter number: of the subscription in its session; nil: no subscription.
  func asked(
    _ event: String, _ session: ChannelID, _ number: UInt64?, _ actor: LogActor, _ subject: LogSubject?,
    _ code: ErrorCode?
  ) {
    queue.append(
      LogLine.make(event) { line in
        line.member("session", session.name)
        if let number { line.member("subscription", Int(clamping: number)) }
        line.members(of: actor)
        line.member(subject)
        if let code { line.member("code", code.rawValue) }
      })
  }

  /// Logs the end of a subscription.
  func ended(
    _ session: ChannelID, _ number: UInt64, _ actor: LogActor, _ subject: LogSubject?, _ code: ErrorCode?,
    _ duration: Nanoseconds
  ) {
    queue.append(
      LogLine.make("end") { line in
        line.member("session", session.name)
        line.member("subscription", Int(clamping: number))
        line.members(of: actor)
        line.member(subject)
        if let code { line.member("code", code.rawValue) }
        line.milliseconds(duration)
      })
  }
}

extension ChannelID {
  /// Common to the lines of one session, and unique in the process.
  fileprivate var name: String { String(rawValue, radix: 36) }
}
