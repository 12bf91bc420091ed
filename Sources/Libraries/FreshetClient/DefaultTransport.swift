@_exported public import FreshetRemote

#if !canImport(Darwin)
  @_exported public import WebSocketClient
#endif

/// This platform's transport: URLSession's on Apple's systems, that of libwebsockets elsewhere.
public var defaultTransport: any LiveTransport {
  #if canImport(Darwin)
    URLSessionTransport()
  #else
    WebSocketTransport()
  #endif
}

extension RemoteDatabase {
  /// A database on a server, over this platform's transport.
  ///
  /// - Parameters:
  ///   - address: `http(s)://host:port` or `ws(s)://host:port/path`.
  ///   - database: the name of one of the server's databases, where it has several.
  ///   - token: returns the token that identifies the client, as with a transport of one's own.
  /// - Throws: `FreshetError` for an invalid address.
  public convenience init(
    _ address: String, database: String? = nil, token: (@Sendable () async throws -> String)? = nil
  ) throws {
    try self.init(address, database: database, token: token, transport: defaultTransport)
  }
}
