internal import CGateway

/// The context of a service thread's C callbacks: alive from `Gateway.start` until `stop` returns.
final class CallbackContext {
  let gateway: Gateway
  let delegate: any GatewayDelegate
  private let rate: RateLimit
  /// Each session's use of `rate`, by slot.
  private var messages: [RateLimit.Account] = []

  init(_ gateway: Gateway, _ delegate: any GatewayDelegate) {
    self.gateway = gateway
    self.delegate = delegate
    let configuration = gateway.configuration
    rate = RateLimit(perSecond: configuration.limits.messageRate, burst: configuration.limits.messageBurst)
  }

  static func from(_ pointer: UnsafeMutableRawPointer?) -> CallbackContext {
    Unmanaged<CallbackContext>.fromOpaque(pointer!).takeUnretainedValue()
  }

  func open(_ session: ChannelID) {
    let slot = gateway.slot(of: session)
    while messages.count <= slot { messages.append(RateLimit.Account()) }
    messages[slot] = RateLimit.Account()
  }

  /// A session has sent a frame.
  ///
  /// - Returns: the microseconds that the session is not read for.
  func charge(_ session: ChannelID) -> Int64 { rate.charge(&messages[gateway.slot(of: session)], at: gateway.now) }

  /// A request is whole.
  func perform(_ request: HTTPRequest, _ id: RequestID) {
    let configuration = gateway.configuration
    if configuration.isLive(request.path) {
      gateway.refuse(id, GATEWAY_NEEDS_UPGRADE)
    } else if configuration.routes.contains(where: { request.path.utf8.starts(with: $0.utf8) }) {
      delegate.gateway(gateway, requested: request, as: id)
    } else {
      gateway.answerWithFile(request.path, request, id)
    }
  }
}

extension Gateway {
  /// Answers with a public file.
  ///
  /// - Parameter path: the file's, which may be another than the request's.
  package func answerWithFile(_ path: String, _ request: HTTPRequest, _ id: RequestID) {
    let always = configuration.staticHeaders
    guard let file = openFile(path) else {
      let isScript = PublicFiles.isScript(path)
      return refuse(id, isScript ? GATEWAY_SCRIPT_NOT_FOUND : GATEWAY_NOT_FOUND, headers: always)
    }
    guard request.method == "GET" || request.method == "HEAD" else {
      return refuse(id, GATEWAY_NOT_FOR_FILES, headers: always)
    }
    let headers =
      [("Content-Type", file.type), ("ETag", "\"\(file.version)\""), ("Cache-Control", "no-cache")] + always
    if EntityTags(request.ifNoneMatch).contains(file.version) { return respond(to: id, status: 304, headers: headers) }
    guard hasRoom(for: file.size) else {
      noteOverload()
      return refuse(id, GATEWAY_OVERLOADED)
    }
    guard let bytes = file.read() else { return refuse(id, GATEWAY_NOT_FOUND, headers: always) }
    respond(to: id, status: 200, headers: headers, body: bytes)
  }
}

let callbacks = gateway_callbacks(
  entered: { context, address in
    CallbackContext.from(context).gateway.addresses.enter(IPAddress(address.pointee))
  },
  left: { context, address, entry in
    CallbackContext.from(context).gateway.addresses.leave(IPAddress(address.pointee), entry)
  },
  speaks_for: { context, proxy, forwardedFor, forwarded in
    CallbackContext.from(context).gateway.addresses.proxies.client(
      of: IPAddress(proxy.pointee), forwardedFor: String(forwardedFor), forwarded: String(forwarded)
    ).address
  },
  admitted: { context, request in
    let context = CallbackContext.from(context)
    let seconds = context.delegate.gateway(
      context.gateway, secondsUntilAdmitting: ClientAddress(IPAddress(request.pointee.client)))
    return Int32(clamping: seconds)
  },
  handshake: { context, request in
    let context = CallbackContext.from(context)
    let handshake = HTTPRequest(request.pointee)
    guard context.gateway.configuration.isLive(handshake.path) else { return GATEWAY_NOT_FOUND }
    let refusal = context.delegate.gateway(context.gateway, shouldRefuse: handshake)
    return refusal.map(gateway_fault.init(refusingWith:)) ?? GATEWAY_NO_FAULT
  },
  opened: { context, session, request in
    let context = CallbackContext.from(context)
    let session = ChannelID(rawValue: session)
    context.open(session)
    context.delegate.gateway(context.gateway, opened: session, with: HTTPRequest(request.pointee))
  },
  received: { context, session, bytes, length in
    let context = CallbackContext.from(context)
    let message = UnsafeRawBufferPointer(start: bytes, count: length)
    guard String(validating: message, as: UTF8.self) != nil else { return GATEWAY_NOT_TEXT }
    let goesOn = context.delegate.gateway(context.gateway, received: message, from: ChannelID(rawValue: session))
    return goesOn ? GATEWAY_READ_ON : GATEWAY_PAUSE
  },
  framed: { context, session in CallbackContext.from(context).charge(ChannelID(rawValue: session)) },
  drained: { context, waiters in
    let context = CallbackContext.from(context)
    context.delegate.gateway(context.gateway, drainedFor: waiters)
  },
  notified: { context, channel, value in
    let context = CallbackContext.from(context)
    context.delegate.gateway(context.gateway, notified: value, of: ChannelID(rawValue: channel))
  },
  closed: { context, channel in
    let context = CallbackContext.from(context)
    context.delegate.gateway(context.gateway, closed: ChannelID(rawValue: channel))
  },
  requested: { context, id, request in
    CallbackContext.from(context).perform(HTTPRequest(request.pointee), RequestID(rawValue: id))
  },
  abandoned: { context, id in
    let context = CallbackContext.from(context)
    context.delegate.gateway(context.gateway, abandoned: RequestID(rawValue: id))
  },
  answered: { context, id, request, outcome in
    let context = CallbackContext.from(context)
    context.delegate.gateway(
      context.gateway, answered: RequestID(rawValue: id), with: GatewayOutcome(outcome.pointee)
    ) { RequestLine(request.pointee) }
  },
  ticked: { context in
    let context = CallbackContext.from(context)
    context.delegate.gatewayTicked(context.gateway)
  },
  logged: { context, level, line in
    let context = CallbackContext.from(context)
    let level = GatewayLogLevel(rawValue: level) ?? .error
    context.delegate.gateway(context.gateway, logged: String(cString: line), level: level)
  },
  now: { context in CallbackContext.from(context).gateway.configuration.clock?() ?? 0 }
)
