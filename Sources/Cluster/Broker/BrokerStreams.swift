import CLibNATS
import Ground

/// How a stream keeps its messages.
package struct StreamConfiguration: Equatable, Sendable {
  package var name: String
  package var subject: String
  /// The number of servers of a cluster that each have a copy.
  package var replicas = 1
  /// Bytes beyond which the oldest messages are deleted; nil: no limit.
  package var bytes: Int?
  /// Seconds after which messages are deleted; nil: never.
  package var age: Int?
  /// The most messages to one subject, beyond which the oldest are deleted; nil: no limit.
  package var messagesOfSubject: Int?

  package init(name: String, subject: String) {
    self.name = name
    self.subject = subject
  }
}

/// The present contents of a stream.
package struct StreamState: Equatable, Sendable {
  package var messages: UInt64
  package var bytes: UInt64
  package var first: UInt64
  /// 0 before the first message.
  package var last: UInt64
}

/// A message that a stream has kept.
package struct StoredMessage: Sendable {
  package let sequence: UInt64
  package let message: BrokerMessage
}

extension jsErrCode {
  init(_ code: UInt32) { self.init(rawValue: code) }
}

// Streams: messages that the broker keeps.
extension BrokerConnection {
  /// - Throws: the reason, if there is no connection. libnats itself would wait, and report less.
  private func checkConnection() throws(BrokerError) {
    if !isConnected { throw BrokerError(.unavailable, trouble) }
  }

  /// Makes a stream if it is missing. An existing one is given these limits.
  package func ensure(_ configuration: StreamConfiguration) throws(BrokerError) {
    try checkConnection()
    var settings = jsStreamConfig()
    jsStreamConfig_Init(&settings)
    let name = copyOfText(configuration.name)
    let subject = copyOfText(configuration.subject)
    defer {
      free(name)
      free(subject)
    }
    var subjects: UnsafePointer<CChar>? = UnsafePointer(subject)
    settings.Name = UnsafePointer(name)
    settings.Storage = js_FileStorage
    settings.Retention = js_LimitsPolicy
    settings.Discard = js_DiscardOld
    settings.Replicas = Int64(configuration.replicas)
    settings.MaxBytes = configuration.bytes.map(Int64.init) ?? -1
    settings.MaxMsgsPerSubject = configuration.messagesOfSubject.map(Int64.init) ?? -1
    settings.MaxAge = Int64(configuration.age ?? 0) * 1_000_000_000
    settings.AllowDirect = false
    try withUnsafeMutablePointer(to: &subjects) { subjects throws(BrokerError) in
      settings.Subjects = subjects
      settings.SubjectsLen = 1
      var code = jsErrCode(0)
      var status = js_AddStream(nil, stream, &settings, nil, &code)
      // The stream exists with other limits.
      if code.rawValue == 10_058 { status = js_UpdateStream(nil, stream, &settings, nil, &code) }
      if status != NATS_OK { throw BrokerError(status, code, "making the stream \(configuration.name)") }
    }
  }

  /// Deletes a stream with all its messages, if it exists.
  package func remove(_ name: String) throws(BrokerError) {
    try checkConnection()
    var code = jsErrCode(0)
    let status = js_DeleteStream(stream, name, nil, &code)
    if status == NATS_OK { return }
    let error = BrokerError(status, code, "removing the stream \(name)")
    if error.reason != .notFound { throw error }
  }

  /// - Throws: `notFound`.
  package func state(ofStream name: String) throws(BrokerError) -> StreamState {
    try checkConnection()
    var info: UnsafeMutablePointer<jsStreamInfo>?
    var code = jsErrCode(0)
    let status = js_GetStreamInfo(&info, stream, name, nil, &code)
    guard status == NATS_OK, let info else { throw BrokerError(status, code, "looking at the stream \(name)") }
    defer { jsStreamInfo_Destroy(info) }
    let state = info.pointee.State
    return StreamState(messages: state.Msgs, bytes: state.Bytes, first: state.FirstSeq, last: state.LastSeq)
  }

  /// Appends a message, and returns once the stream has stored it.
  ///
  /// - Parameter expectedLast: the sequence of the stream's last message; nil: any.
  /// - Parameter id: the id by which the broker recognizes repeated messages.
  /// - Returns: its sequence.
  /// - Throws: `otherLast`; `unavailable`, after which it is unknown whether the message was stored.
  package func append(
    _ bytes: [UInt8], to subject: String, id: String, after expectedLast: UInt64? = nil
  ) throws(BrokerError) -> UInt64 {
    try checkConnection()
    var options = jsPubOptions()
    jsPubOptions_Init(&options)
    options.MaxWait = Self.patience
    if let expectedLast {
      // To libnats, 0 means any message.
      if expectedLast == 0 { options.ExpectNoMessage = true } else { options.ExpectLastSeq = expectedLast }
    }
    var acknowledgement: UnsafeMutablePointer<jsPubAck>?
    var code = jsErrCode(0)
    let status = id.withCString { id in
      options.MsgId = id
      return js_Publish(&acknowledgement, stream, subject, bytes, Int32(bytes.count), &options, &code)
    }
    guard status == NATS_OK, let acknowledgement else {
      // No stream listens to the subject.
      if status == NATS_NO_RESPONDERS { throw BrokerError(.notFound, "no stream keeps \(subject)") }
      throw BrokerError(status, code, "appending to \(subject)")
    }
    defer { jsPubAck_Destroy(acknowledgement) }
    return acknowledgement.pointee.Sequence
  }

  /// The last message to a subject that the stream has; nil without such a message or stream.
  package func lastMessage(to subject: String, in name: String) throws(BrokerError) -> StoredMessage? {
    guard try hasMessages(name) else { return nil }
    var message: OpaquePointer?
    var code = jsErrCode(0)
    return try stored(js_GetLastMsg(&message, stream, name, subject, nil, &code), message, code, name)
  }

  /// The message with a sequence; nil if the stream does not have it any more or not yet, or does not exist.
  package func message(_ sequence: UInt64, in name: String) throws(BrokerError) -> StoredMessage? {
    guard try hasMessages(name) else { return nil }
    var message: OpaquePointer?
    var code = jsErrCode(0)
    return try stored(js_GetMsg(&message, stream, name, sequence, nil, &code), message, code, name)
  }

  /// Whether a stream has messages. nats-server 2.9.10 crashes (nil pointer) when it is asked for a message of a stream
  /// that it is just creating; such a stream is empty.
  private func hasMessages(_ name: String) throws(BrokerError) -> Bool {
    do throws(BrokerError) { return try state(ofStream: name).messages > 0 } catch {
      if error.reason == .notFound { return false }
      throw error
    }
  }

  private func stored(
    _ status: natsStatus, _ message: OpaquePointer?, _ code: jsErrCode, _ name: String
  ) throws(BrokerError) -> StoredMessage? {
    if [10_037, 10_059].contains(code.rawValue) { return nil }
    guard status == NATS_OK, let message else { throw BrokerError(status, code, "reading the stream \(name)") }
    let taken = BrokerMessage(taking: message)
    return StoredMessage(sequence: taken.storedSequence, message: taken)
  }

  /// All messages to a subject from a sequence on, as they come.
  package func read(_ subject: String, of name: String, from sequence: UInt64) throws(BrokerError) -> BrokerSubscription
  {
    var options = jsSubOptions()
    jsSubOptions_Init(&options)
    options.Ordered = true
    options.Config.DeliverPolicy = js_DeliverByStartSequence
    options.Config.OptStartSeq = max(1, sequence)
    options.Config.Heartbeat = 1_000_000_000
    var subscription: OpaquePointer?
    var code = jsErrCode(0)
    let status = name.withCString { name in
      options.Stream = name
      return js_SubscribeSync(&subscription, stream, subject, nil, &options, &code)
    }
    guard status == NATS_OK, let subscription else { throw BrokerError(status, code, "reading the stream \(name)") }
    // The stream's flow control bounds the waiting messages.
    natsSubscription_SetPendingLimits(subscription, -1, -1)
    return BrokerSubscription(subscription, of: self)
  }

  /// Deletes the messages before a sequence from a stream.
  package func purge(_ name: String, before sequence: UInt64) throws(BrokerError) {
    // To the server, 1 means all messages.
    if sequence <= 1 { return }
    var options = jsOptions()
    jsOptions_Init(&options)
    options.Wait = Self.patience
    options.Stream.Purge.Sequence = sequence
    var code = jsErrCode(0)
    let status = js_PurgeStream(stream, name, &options, &code)
    if status != NATS_OK { throw BrokerError(status, code, "purging the stream \(name)") }
  }
}
