internal import CGateway

/// The C callbacks: each one's context is the gateway, alive until `stop` returns.
let callbacks = gateway_callbacks(
  handshake: { context, request in
    let gateway = Gateway.from(context)
    let refusal = gateway.delegate.gateway(gateway, shouldRefuse: HTTPRequest(request.pointee))
    return Int32(refusal ?? 0)
  },
  opened: { context, session, request in
    let gateway = Gateway.from(context)
    gateway.delegate.gateway(gateway, opened: ChannelID(rawValue: session), with: HTTPRequest(request.pointee))
  },
  received: { context, session, bytes, length in
    let gateway = Gateway.from(context)
    let message = UnsafeRawBufferPointer(start: bytes, count: length)
    return gateway.delegate.gateway(gateway, received: message, from: ChannelID(rawValue: session))
  },
  drained: { context, channels, count in
    let gateway = Gateway.from(context)
    gateway.delegate.gateway(gateway, drained: UnsafeBufferPointer(start: channels, count: count))
  },
  closed: { context, channel in
    let gateway = Gateway.from(context)
    gateway.delegate.gateway(gateway, closed: ChannelID(rawValue: channel))
  },
  requested: { context, id, request in
    let gateway = Gateway.from(context)
    gateway.delegate.gateway(gateway, requested: HTTPRequest(request.pointee), as: RequestID(rawValue: id))
  },
  abandoned: { context, id in
    let gateway = Gateway.from(context)
    gateway.delegate.gateway(gateway, abandoned: RequestID(rawValue: id))
  },
  logged: { context, level, line in
    let gateway = Gateway.from(context)
    let level = GatewayLogLevel(rawValue: level) ?? .error
    gateway.delegate.gateway(gateway, logged: String(cString: line), level: level)
  },
  now: { context in Gateway.from(context).clock?() ?? 0 }
)

extension Gateway {
  fileprivate static func from(_ context: UnsafeMutableRawPointer?) -> Gateway {
    Unmanaged<Gateway>.fromOpaque(context!).takeUnretainedValue()
  }
}
