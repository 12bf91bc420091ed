package import Controllers
package import Gateway
import LiveQuery
package import Replication
package import Store

/// What a server serves, to whom, and within which limits.
package struct ServerConfiguration: Sendable {
  /// The database file.
  package var database: String
  package var host = "127.0.0.1"
  /// 0 takes a free port.
  package var port = 8080
  /// The TLS certificate and its key; nil for no TLS.
  package var certificate: CertificateFiles?
  /// Addresses and ranges of proxies that are believed who their clients are.
  package var trustedProxies: [String] = []
  /// Where metrics, health and readiness are served, and then nowhere else; nil: with everything else.
  package var metricsAddress: SocketAddress?
  /// The directory of static files; nil for none.
  package var publicDirectory: String?
  /// Where the files of the JavaScript client are, that every server serves; nil: nowhere.
  package var clientDirectory: String?
  /// The header of that name with static files; empty for none.
  package var contentSecurityPolicy =
    "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
  /// Whether clients on this machine may write; `ownSQLOfEveryone` decides.
  package var allowsWrites = false
  /// Whether everyone who can reach the server may read and write every table.
  package var allowsEveryoneToReadAndWrite = false
  /// Whether clients may ask queries of their own; nil: when only this machine can reach the server.
  package var allowsAdHocQueries: Bool?
  /// What clients may ask by name.
  package var queries = PublishedQueries()
  /// What clients may write by name.
  package var statements = PublishedStatements()
  /// What the clients of each role may do; empty: what the other settings allow all clients.
  package var roles: [String: Role] = [:]
  /// Origins of other hosts whose pages may connect, such as "https://example.org".
  package var allowedOrigins: Set<String> = []
  /// Names under which the server is reached, in lower case and without ports; with a host other than loopback, none
  /// means any.
  package var allowedHosts: Set<String> = []
  /// Threads that follow lists.
  package var followers = 2
  /// Threads that run queries and read the contents of many rows.
  package var readers = 4
  /// Subscriptions that one connection may have.
  package var subscriptionLimit = 1_000
  /// Messages that a connection may send a second, and five times as many at once after a pause; 0 for any number. More are
  /// read no faster than that.
  package var messagesPerSecond = 200
  /// Requests of a connection that may wait for their answers; while as many do, no more are read.
  package var waitingRequests = 32
  /// Connections that one IPv4 address or IPv6 /64 may have; 0 for any number. Nil for 1,000, this machine's own not counted:
  /// they may be a proxy's.
  package var connectionsPerAddress: Int?
  /// Requests that one address may send a second, messages of all its sessions a second (of both five times as many at once after
  /// a pause), and its subscriptions; 0 for any number. Nil for 1,000, 5,000 and 20,000, this machine's own not counted.
  package var requestsPerAddress: Int?
  package var messagesPerAddress: Int?
  package var subscriptionsPerAddress: Int?
  /// Microseconds of a clock that never goes back, for deadlines and limits of the sockets; nil for the system's.
  package var socketClock: (@Sendable () -> Int64)?
  /// The time in which the head of a request must have come; zero for no limit.
  package var headTimeout = Duration.seconds(10)
  /// The time in which the body of a request must have come; zero for no limit.
  package var bodyTimeout = Duration.seconds(60)
  /// Bytes a second that a body must keep up after its first five seconds; 0 for no limit.
  package var bodyRate = 1_024
  /// The time in which a client must take something of what was sent to it.
  package var readTimeout = Duration.seconds(30)
  /// Bytes that may be on their way to clients; then results are refused until there is room. 0 for any number.
  package var outgoingMemory = 256 << 20
  /// What may be remembered of transactions that clients may ask for again, in bytes.
  package var transactionMemory = 16 << 20
  /// The longest message and HTTP body, in bytes.
  package var messageLimit = 1 << 20
  /// The longest that a query may run when it is first asked, and that a client's transaction may take.
  package var queryTimeout = Duration.seconds(30)
  /// How long a query without subscribers is still followed, and versions are held, so that a returning client is served
  /// at once.
  package var linger = Duration.seconds(60)
  /// The least time between two runs of a query that has to be run again after changes.
  package var refetchInterval = Duration.milliseconds(100)
  /// What may be remembered of followed tables to find changed rows, in bytes.
  package var captureMemory = 256 << 20
  /// What is remembered of changed rows for readers of the feed that come back, in bytes.
  package var changeHistory = 64 << 20
  /// Whether lists are compared with fresh runs of their queries.
  package var selfCheck = SelfCheckMode.idle
  /// How long a running transaction may continue when the server stops.
  package var transactionGrace = Duration.seconds(5)
  /// How long clients get to read what is queued for them when the server stops.
  package var grace = Duration.seconds(2)

  /// Silence on a stream of events after which a comment is sent, give or take half a second.
  package var heartbeat = Duration.seconds(15)

  /// Where it is written who asked what; nil: nowhere.
  package var accessLog: LogDestination?
  /// Where it is written who wrote what; nil: nowhere.
  package var auditLog: LogDestination?
  /// How long a transaction waits until the audit log has it.
  package var auditPatience = Duration.seconds(5)
  /// Runs of queries that take at least so long are logged and counted; zero: none.
  package var slowQuery = Duration.seconds(1)

  /// The name of the first epoch; nil for one that no other has.
  package var epoch: String?
  /// The number of the file's first state in it: where to continue after a restart during which no program wrote.
  package var firstCommit: Int64 = 0
  /// The folder in which what is known of the file is kept for the next start; nil: nothing is kept. Not where `epoch` is set, nor for a
  /// replica, whose file has its own.
  package var stateFolder: String?
  /// The time between two writes of it while the file changes.
  package var stateInterval = Duration.seconds(60)
  /// Called with the new epoch when one has begun: on the thread that began it, before any client gets its `hello`.
  package var epochRenewed: (@Sendable (_ epoch: String) -> Void)?
  /// Whether the file is a replica's: commits and epochs are those of the writer's file, which it has with its rows.
  package var readsPosition = false
  /// Whether other servers have the same epochs, so that clients come with versions that those have named; a replica's always do.
  package var sharesEpochs = false

  /// Called with the reason when the server cannot continue and must be stopped. Any thread.
  package var mustEnd: (@Sendable (_ reason: String) -> Void)?
  /// How the file is replicated; nil: it is not.
  package var replication: ReplicationSettings?

  /// Which tokens identify clients; nil: all clients are anonymous, and tokens are ignored.
  package var authentication: JWTConfiguration?
  /// The date, for tokens.
  package var wallClock = WallClock.system
  /// For what the server waits for itself.
  package var clock = MonotonicClock.system

  package init(database: String) { self.database = database }

  /// Whether only this machine can reach it.
  package var isLoopback: Bool { SocketAddress(host: host, port: port).isLoopback }
}

extension FollowerConfiguration {
  init(_ server: ServerConfiguration, _ keeper: StateKeeper?) {
    self.init(path: server.database)
    queryTimeout = server.queryTimeout
    linger = server.linger
    historyAge = server.linger
    refetchInterval = server.refetchInterval
    captureBytes = server.captureMemory
    changeBytes = server.changeHistory
    selfCheck = server.selfCheck
    access = server.roles.access
    queryLimits = server.roles.queryLimits
    slowQuery = server.slowQuery
    firstCommit = keeper?.first ?? server.firstCommit
    self.keeper = keeper
    readsPosition = server.readsPosition
    sharesEpochs = server.sharesEpochs
    for query in server.queries.list { queryNames[Fingerprint(of: query.sample)] = query.name }
  }
}

/// The version of Freshet.
package let freshetVersion = "0.1.0"
