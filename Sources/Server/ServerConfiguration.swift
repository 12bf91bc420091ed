import Controllers

/// What a server serves, to whom, and within which limits.
package struct ServerConfiguration: Sendable {
  /// The database file.
  package var database: String
  package var host = "127.0.0.1"
  /// 0 takes a free port.
  package var port = 8080
  /// The directory of static files; nil for none.
  package var publicDirectory: String?
  /// Whether clients may write.
  package var allowsWrites = false
  /// Whether clients may ask queries of their own; nil: when only this machine can reach the server.
  package var allowsAdHocQueries: Bool?
  /// What clients may ask by name.
  package var queries = PublishedQueries()
  /// Origins of other hosts whose pages may connect, such as "https://example.org".
  package var allowedOrigins: Set<String> = []
  /// Names under which the server is reached, in lower case and without ports; with a host other than loopback, none
  /// means any.
  package var allowedHosts: Set<String> = []
  /// Threads that follow queries.
  package var workers = 1
  /// Subscriptions that one connection may have.
  package var subscriptionLimit = 1_000
  /// The longest message and HTTP body, in bytes.
  package var messageLimit = 1 << 20
  /// The longest that a query may run when it is first asked, and that a client's transaction may take.
  package var queryTimeout = Duration.seconds(30)
  /// How long a query without subscribers is still followed, and versions are held, so that whoever comes back is served
  /// at once.
  package var linger = Duration.seconds(60)
  /// The least time between two runs of a query that has to be run again after changes.
  package var refetchInterval = Duration.milliseconds(100)
  /// What may be remembered of followed tables to find changed rows, in bytes.
  package var captureMemory = 256 << 20
  /// How long a transaction that runs may go on when the server stops.
  package var transactionGrace = Duration.seconds(5)
  /// How long clients get to read what is queued for them when the server stops.
  package var grace = Duration.seconds(2)

  /// Silence on a stream of events after which a comment is sent, give or take half a second.
  package var heartbeat = Duration.seconds(15)

  package init(database: String) { self.database = database }

  /// Whether clients may ask queries of their own.
  package var allowsQueries: Bool { allowsAdHocQueries ?? isLoopback }

  /// Whether only this machine can reach it.
  package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" || host == "localhost" }
}

extension WorkerConfiguration {
  init(_ server: ServerConfiguration) {
    self.init(path: server.database)
    queryTimeout = server.queryTimeout.milliseconds
    linger = server.linger.milliseconds
    historyAge = server.linger.milliseconds
    refetchInterval = server.refetchInterval.milliseconds
    captureBytes = server.captureMemory
  }
}

extension Duration {
  var milliseconds: Int {
    Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000)
  }
}

/// The version of Freshet.
package let freshetVersion = "0.1.0"
