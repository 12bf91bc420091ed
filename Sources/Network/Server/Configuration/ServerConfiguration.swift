package import Following
package import Gateway
package import Ground
import LiveQuery
package import Replication
import Store

/// What a server serves, to whom, and within which limits.
package struct ServerConfiguration: Sendable {
  /// The database file.
  package var database: String
  package var host = "127.0.0.1"
  /// 0 takes a free port.
  package var port = 8080
  /// A socket that listens already, in the place of `host` and `port`.
  package var listeningSocket: Int32?
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
  /// Microseconds of a clock that never goes back, for deadlines and limits of the sockets; nil for the system's.
  package var socketClock: (@Sendable () -> Int64)?
  /// Limits of clients, and of what the server uses for them.
  package var limits = ServerLimits()
  /// How long a query without subscribers is still followed, and versions are held, so that a returning client is served
  /// at once.
  package var linger = Duration.seconds(60)
  /// The least time between two runs of a query that has to be run again after changes.
  package var refetchInterval = Duration.milliseconds(100)
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
    queryTimeout = server.limits.queryTimeout
    linger = server.linger
    historyAge = server.linger
    refetchInterval = server.refetchInterval
    captureBytes = server.limits.captureMemory
    changeBytes = server.limits.changeHistory
    selfCheck = server.selfCheck
    access = server.roles.access
    queryLimits = server.roles.queryLimits
    slowQuery = server.limits.slowQuery
    // A replica's file names its own states.
    firstCommit = (server.readsPosition ? nil : keeper?.first) ?? server.firstCommit
    self.keeper = keeper
    readsPosition = server.readsPosition
    sharesEpochs = server.sharesEpochs
    for query in server.queries.list { queryNames[Fingerprint(of: query.sample)] = query.name }
  }
}

/// The version of Freshet.
package let freshetVersion = "0.1.0"
