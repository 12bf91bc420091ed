import CLibNATS

/// Why the broker did not do what it was asked.
package struct BrokerError: Error, CustomStringConvertible {
  package enum Reason: Sendable {
    /// No connection, or no answer in time: a retry may succeed. It is unknown whether the request was carried out.
    case unavailable
    /// There is no such stream, or no such message in it.
    case notFound
    /// The stream's last message is not the expected one.
    case otherLast
    /// No listener answers to this subject.
    case noResponder
    /// Another server has taken over.
    case superseded
    /// Any other error: a retry would fail in the same way.
    case refused
  }

  package let reason: Reason
  package let message: String
  package var description: String { message }

  package init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  init(_ status: natsStatus, _ code: jsErrCode, _ action: String) {
    // The server's own codes: https://github.com/nats-io/nats-server/blob/v2.9.10/server/errors.json
    switch (status, code.rawValue) {
    case (_, 10_071), (_, 10_070): reason = .otherLast
    case (_, 10_059), (_, 10_037), (NATS_NOT_FOUND, _): reason = .notFound
    // No JetStream at the moment, no leader, not enough servers.
    case (_, 10_008), (_, 10_009), (_, 10_039), (_, 10_005), (_, 10_076), (_, 10_077), (_, 10_023):
      reason = .unavailable
    case (NATS_NO_RESPONDERS, _): reason = .noResponder
    case (NATS_TIMEOUT, _), (NATS_CONNECTION_DISCONNECTED, _), (NATS_CONNECTION_CLOSED, _), (NATS_NO_SERVER, _),
      (NATS_IO_ERROR, _), (NATS_NOT_YET_CONNECTED, _), (NATS_STALE_CONNECTION, _), (NATS_MISSED_HEARTBEAT, _),
      (NATS_MISMATCH, _), (NATS_SLOW_CONSUMER, _), (NATS_INVALID_SUBSCRIPTION, _):
      reason = .unavailable
    default: reason = .refused
    }
    let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "error \(status.rawValue)"
    message = "\(action): \(text)" + (code.rawValue == 0 ? "" : " (JetStream error \(code.rawValue))")
  }
}
