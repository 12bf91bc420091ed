import CLibNATS

/// A message from another connection, or one that a stream has kept.
// @unchecked: only this object uses the message, which does not change.
package final class BrokerMessage: @unchecked Sendable {
  private let message: OpaquePointer

  init(taking message: OpaquePointer) { self.message = message }

  deinit { natsMsg_Destroy(message) }

  /// Calls `body` with its bytes.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message))))
  }

  package var bytes: [UInt8] { withBytes { Array($0) } }

  package var subject: String { natsMsg_GetSubject(message).map { String(cString: $0) } ?? "" }

  var replySubject: String? { natsMsg_GetReply(message).map { String(cString: $0) } }

  /// The number in the stream of a message read with `BrokerConnection.message` or `lastMessage`. From 1 up.
  var storedSequence: UInt64 { natsMsg_GetSequence(message) }

  /// The number of a message that a stream delivers.
  package var sequence: UInt64 {
    var data: UnsafeMutablePointer<jsMsgMetaData>?
    guard natsMsg_GetMetaData(&data, message) == NATS_OK, let data else { return 0 }
    defer { jsMsgMetaData_Destroy(data) }
    return data.pointee.Sequence.Stream
  }
}

/// Messages to a subject, or out of a stream, in their order.
///
/// Owner: one thread at a time.
package final class BrokerSubscription {
  private let subscription: OpaquePointer
  /// Must outlive the subscription.
  private let connection: BrokerConnection

  init(_ subscription: OpaquePointer, of connection: BrokerConnection) {
    self.subscription = subscription
    self.connection = connection
  }

  deinit {
    natsSubscription_Unsubscribe(subscription)
    natsSubscription_Destroy(subscription)
  }

  /// Whether a message is here already.
  package var hasMore: Bool {
    var (messages, bytes): (Int32, Int32) = (0, 0)
    return natsSubscription_GetPending(subscription, &messages, &bytes) == NATS_OK && messages > 0
  }

  /// The next message; nil when none came in time.
  ///
  /// - Parameter timeout: in milliseconds; at least 1.
  /// - Throws: when the subscription has ended, or messages may be missing.
  package func next(timeout: Int64) throws(BrokerError) -> BrokerMessage? {
    var message: OpaquePointer?
    let status = natsSubscription_NextMsg(&message, subscription, max(1, timeout))
    if status == NATS_TIMEOUT { return nil }
    guard status == NATS_OK, let message else { throw BrokerError(status, jsErrCode(0), "reading messages") }
    return BrokerMessage(taking: message)
  }
}
