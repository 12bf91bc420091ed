internal import CGateway

/// What the C callbacks get: alive from `Gateway.start` until `stop` returns.
final class CallbackContext {
  let gateway: Gateway
  let delegate: any GatewayDelegate

  init(_ gateway: Gateway, _ delegate: any GatewayDelegate) {
    self.gateway = gateway
    self.delegate = delegate
  }

  static func from(_ pointer: UnsafeMutableRawPointer?) -> CallbackContext {
    Unmanaged<CallbackContext>.fromOpaque(pointer!).takeUnretainedValue()
  }
}

let callbacks = gateway_callbacks(
  trusts: { context, address in
    CallbackContext.from(context).gateway.proxies.trusts(IPAddress(address.pointee))
  },
  speaks_for: { context, proxy, forwardedFor, forwarded in
    CallbackContext.from(context).gateway.proxies.client(
      of: IPAddress(proxy.pointee), forwardedFor: String(forwardedFor), forwarded: String(forwarded)
    ).address
  },
  admitted: { context, request in
    let context = CallbackContext.from(context)
    let seconds = context.delegate.gateway(
      context.gateway, secondsUntilAdmitting: ClientAddress(request.pointee.client))
    return Int32(clamping: seconds)
  },
  handshake: { context, request in
    let context = CallbackContext.from(context)
    let refusal = context.delegate.gateway(context.gateway, shouldRefuse: HTTPRequest(request.pointee))
    return refusal.map(gateway_fault.init(refusingWith:)) ?? GATEWAY_NO_FAULT
  },
  opened: { context, session, request in
    let context = CallbackContext.from(context)
    let session = ChannelID(rawValue: session)
    context.delegate.gateway(context.gateway, opened: session, with: HTTPRequest(request.pointee))
  },
  received: { context, session, bytes, length in
    let context = CallbackContext.from(context)
    let message = UnsafeRawBufferPointer(start: bytes, count: length)
    return context.delegate.gateway(context.gateway, received: message, from: ChannelID(rawValue: session))
  },
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
    let context = CallbackContext.from(context)
    context.delegate.gateway(
      context.gateway, requested: HTTPRequest(request.pointee), as: RequestID(rawValue: id))
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
  now: { context in CallbackContext.from(context).gateway.clock?() ?? 0 }
)
