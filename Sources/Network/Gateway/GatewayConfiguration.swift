/// Where a TLS certificate and its key are.
package struct CertificateFiles: Hashable, Sendable {
  package var certificate: String
  package var key: String

  package init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}

/// The addresses, files and limits of a gateway.
package struct GatewayConfiguration: Sendable {
  /// The address to listen on, such as "127.0.0.1" or "::1".
  package var host = "127.0.0.1"
  /// 0 takes a free port: see `Gateway.port`.
  package var port = 0
  /// Threads that serve sockets, each with connections of its own.
  package var serviceThreads = 1
  /// A socket that listens already, as systemd passes one, in the place of `host` and `port`; the gateway's from its
  /// start on.
  package var listeningSocket: Int32?
  /// The files of a certificate, with its chain, and of its key, in PEM format; nil for no TLS. With them nothing else
  /// is spoken.
  package var certificate: CertificateFiles?
  /// Addresses and ranges ("10.0.0.0/8") of proxies whose X-Forwarded-For and Forwarded are believed.
  package var trustedProxies: [String] = []
  /// The directory whose files are served at "/" and below; nil for none.
  package var publicDirectory: String?
  /// Directories whose files are served below paths of their own, such as "/_/", whatever `publicDirectory` has there.
  package var mountedDirectories: [(path: String, directory: String)] = []
  /// The path of the WebSocket route.
  package var livePath = "/v1/live"
  /// An optional prefix of the path; nil: none.
  package var livePrefix: String?
  /// The WebSocket subprotocol: clients offer it, or none.
  package var subprotocol = "freshet.v1"
  /// Prefixes of the paths that `GatewayDelegate.gateway(_:requested:as:)` answers.
  package var routes = ["/v1/"]
  /// Headers of every answer from the public directory, 404 included.
  package var staticHeaders: [(name: String, value: String)] {
    get { staticHeaderFields.map { ($0.name, $0.value) } }
    set { staticHeaderFields = newValue.map { HeaderField(name: $0.name, value: $0.value) } }
  }
  package var limits = SocketLimits()

  /// Headers of every stream.
  package var streamHeaders: [(name: String, value: String)] {
    get { streamHeaderFields.map { ($0.name, $0.value) } }
    set { streamHeaderFields = newValue.map { HeaderField(name: $0.name, value: $0.value) } }
  }
  /// Sent to a stream that is otherwise idle; empty for nothing. The default is a comment of server-sent events.
  package var heartbeat = ":\n\n"
  /// Silence after which it is sent, give or take half a second.
  package var heartbeatAfter = Duration.seconds(15)
  /// Microseconds of a clock that never goes back, for deadlines and rates; nil for the system's. Called on the service
  /// thread.
  package var clock: (@Sendable () -> Int64)?

  private struct HeaderField: Hashable, Sendable {
    var name: String
    var value: String
  }

  private var staticHeaderFields: [HeaderField] = []
  private var streamHeaderFields: [HeaderField] = []

  package init() {}
}

extension GatewayConfiguration {
  /// Whether WebSockets are at this path.
  func isLive(_ path: String) -> Bool {
    if path == livePath { return true }
    return livePrefix.map { path.hasPrefix($0) && path.dropFirst($0.count).hasSuffix(livePath) } ?? false
  }
}
