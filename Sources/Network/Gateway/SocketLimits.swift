/// Limits of clients at the sockets.
package struct SocketLimits: Sendable {
  /// The longest WebSocket message, in bytes; a longer one closes with 1009.
  package var messageLimit = 1 << 20
  /// The longest HTTP body, in bytes; a longer one is answered 413.
  package var bodyLimit = 1 << 20
  /// Bytes queued for a session above which reading from it pauses.
  package var outboxLimit = 1 << 20
  /// Messages that a session may send a second for as long as it likes, its fragments counted; 0 for any number. A
  /// session that sends faster is read at this rate.
  package var messageRate = 0
  /// Messages that a session may send at once, after a pause.
  package var messageBurst = 1_000
  /// Connections that one IPv4 address or IPv6 /64 may have; more are answered 429. 0 for any number.
  package var addressLimit = 0
  /// Whether `addressLimit` also limits clients on this machine.
  package var limitsLoopback = false
  /// Bytes that may be on their way out, in frames, answers and streams; more answers get 503. 0 for any number.
  package var outgoingLimit = 0
  /// The time in which a client must read something of what was sent to it; otherwise it is closed. Zero means one day.
  package var readTimeout = Duration.seconds(60)
  /// The time in which a request's head must have come, from the connection's opening or from its first byte; otherwise
  /// it is answered 408. Zero for no limit, as for bodies.
  package var headTimeout = Duration.seconds(10)
  /// The time in which a request's body must have come.
  package var bodyTimeout = Duration.seconds(60)
  /// Bytes a second that a body must keep up after its first five seconds; 0 for no limit.
  package var bodyRate = 1_024
  /// Time without a sign of life after which a session is pinged.
  package var pingAfter = Duration.seconds(30)
  /// Time without a sign of life after which a session is closed.
  package var hangUpAfter = Duration.seconds(45)

  package init() {}

  /// The rate, and five times as many at once.
  package mutating func setMessages(perSecond rate: Int) { (messageRate, messageBurst) = (rate, 5 * rate) }
}
