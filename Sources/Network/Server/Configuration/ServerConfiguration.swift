package import Following
package import Gateway
package import Ground
import LiveQuery
package import Replication
import Store

/// The whole configuration of a server: a value for each part of it.
package struct ServerConfiguration: Sendable {
  /// The database file.
  package var database: String
  /// The databases of a server that has several; nil: it has `database` alone.
  package var places: DatabasePlaces?
  /// How databases that clients make are created; nil: clients may make none.
  package var newDatabases: NewDatabases?
  /// Rules for some of them.
  package var databases = DatabaseRules()
  /// The address at which it is reached.
  package var listening = ListeningSettings()
  /// The pages that it serves, and the pages that may connect.
  package var pages = PageSettings()
  /// The rights of clients to ask and write.
  package var access = AccessSettings()
  /// Which tokens identify clients; nil: all clients are anonymous, and tokens are ignored.
  package var authentication: JWTConfiguration?
  /// Limits of clients, and of what the server uses for them.
  package var limits = ServerLimits()
  package var lists = ListSettings()
  package var logs = LogSettings()
  /// State that goes from server to server.
  package var state = StateSettings()
  /// How the file is replicated; nil: it is not.
  package var replication: ReplicationSettings?
  package var ending = EndingSettings()
  package var clocks = ServerClocks()

  package init(database: String) { self.database = database }

  package init(places: DatabasePlaces) {
    self.init(database: "")
    self.places = places
    // Each of several databases has one follower.
    limits.followers = 1
  }
}

/// Where a server is reached.
package struct ListeningSettings: Sendable {
  package var host = "127.0.0.1"
  /// 0 takes a free port.
  package var port = 8080
  /// A socket that listens already, in the place of `host` and `port`.
  package var socket: Int32?
  /// The TLS certificate and its key; nil for no TLS.
  package var certificate: CertificateFiles?
  /// Addresses and ranges of proxies that are believed when they name their clients.
  package var trustedProxies: [String] = []
  /// Where metrics, health and readiness are served, and then nowhere else; nil: with everything else.
  package var metricsAddress: SocketAddress?

  package init() {}

  /// Whether only this machine can reach it.
  package var isLoopback: Bool { SocketAddress(host: host, port: port).isLoopback }
}

/// How lists are followed and sent.
package struct ListSettings: Sendable {
  /// How long a query without subscribers is still followed, and versions are held, so that a returning client is
  /// served at once.
  package var linger = Duration.seconds(60)
  /// The least time between two runs of a query that has to be run again after changes.
  package var refetchInterval = Duration.milliseconds(100)
  /// Whether lists are compared with fresh runs of their queries.
  package var selfCheck = SelfCheckMode.idle
  /// Silence on a stream of events after which a comment is sent, give or take half a second.
  package var heartbeat = Duration.seconds(15)
}

/// The logs.
package struct LogSettings: Sendable {
  /// Where the access log goes: who asked what; nil: nowhere.
  package var access: LogDestination?
  /// Where the audit log goes: who wrote what; nil: nowhere.
  package var audit: LogDestination?
  /// How long a transaction waits at most for its line in the audit log.
  package var auditPatience = Duration.seconds(5)
}

/// How the states of the file are numbered, and which state is kept for the next start.
package struct StateSettings: Sendable {
  /// The name of the first epoch; nil for one that no other has.
  package var epoch: String?
  /// The commit number of the file's first state in that epoch. A server continues from here after a restart during
  /// which no program wrote.
  package var firstCommit: Int64 = 0
  /// The folder in which what is known of the file is kept for the next start; nil: nothing is kept. Unused if `epoch`
  /// is set, and for a replica, whose file has its own state.
  package var folder: String?
  /// The time between two writes of it while the file changes.
  package var interval = Duration.seconds(60)
  /// Called with the new epoch when one has begun: on the thread that began it, before any client gets its `hello`.
  package var epochRenewed: (@Sendable (_ epoch: String) -> Void)?
  /// Whether the file is a replica's: commits and epochs are those of the writer's file, which it has with its rows.
  package var readsPosition = false
  /// Whether other servers have the same epochs, so that clients may come with versions from those servers. Replicas
  /// always share epochs.
  package var sharesEpochs = false
}

/// How a server ends.
package struct EndingSettings: Sendable {
  /// How long a running transaction may continue when the server stops.
  package var transactionGrace = Duration.seconds(5)
  /// How long clients get to read what is queued for them when the server stops.
  package var grace = Duration.seconds(2)
  /// Called with the reason when the server cannot continue and must be stopped. Any thread.
  package var mustEnd: (@Sendable (_ reason: String) -> Void)?
}

/// The clocks of a server.
package struct ServerClocks: Sendable {
  /// The date, for the expiry of tokens.
  package var wall = WallClock.system
  /// The clock of the server's own waits and timeouts.
  package var monotonic = MonotonicClock.system
  /// Microseconds of a clock that never goes back, for deadlines and limits of the sockets; nil for the system's.
  package var sockets: (@Sendable () -> Int64)?
}

extension FollowerConfiguration {
  init(_ server: ServerConfiguration, _ keeper: StateKeeper?) {
    self.init(path: server.database)
    queryTimeout = server.limits.queryTimeout
    linger = server.lists.linger
    historyAge = server.lists.linger
    refetchInterval = server.lists.refetchInterval
    captureBytes = server.limits.captureMemory
    changeBytes = server.limits.changeHistory
    selfCheck = server.lists.selfCheck
    access = server.access.roles.access
    queryLimits = server.access.roles.queryLimits
    slowQuery = server.limits.slowQuery
    // A replica's file names its own states.
    firstCommit = (server.state.readsPosition ? nil : keeper?.first) ?? server.state.firstCommit
    self.keeper = keeper
    readsPosition = server.state.readsPosition
    sharesEpochs = server.state.sharesEpochs
    for query in server.access.queries.list { queryNames[Fingerprint(of: query.sample)] = query.name }
  }
}
