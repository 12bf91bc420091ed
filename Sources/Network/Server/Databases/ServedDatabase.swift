import Controllers
import Following
import Gateway
import LiveQuery
import Logging
import Replication
import Requests
import Store

/// An open database: followers that serve the sessions that use it, and a writer.
///
/// Everything in it is constant after `init`, or guards itself.
final class ServedDatabase: Sendable {
  /// Nil: it is the only one of its server.
  let name: DatabaseName?
  let path: String
  let doors: Doors
  let pool: ControllerPool
  let output: SessionOutput
  /// Nil when clients may not write.
  let transactions: (any ClientTransactions)?
  /// Nil when the file is not published.
  private let published: PublishedDatabase?
  let followers = FollowerReports()
  private let configuration: ServerConfiguration
  /// Nil: outcomes of transactions are not kept for the next start.
  private let kept: KeptTransactions?
  private let publisherState: PublisherState?
  private let logger: Logger

  /// Shared by the databases of a server.
  struct Surroundings: Sendable {
    let gateway: Gateway
    let rejections: Rejections
    /// Nil: no audit log.
    let auditLog: AuditLog?
    let readers: Readers
    /// Nil: nothing is replicated.
    let replication: ServerReplication?
    let logger: Logger
  }

  /// Opens the file and starts what follows it.
  ///
  /// - Parameter configuration: the configuration of this database.
  /// - Parameter waiter: the first of the numbers by which its followers wait for sessions.
  /// - Throws: one sentence for the operator.
  init(
    _ name: DatabaseName?, _ configuration: ServerConfiguration, _ doors: Doors, waiter: Int = 0,
    _ surroundings: Surroundings
  ) throws(ServerError) {
    self.name = name
    self.configuration = configuration
    self.doors = doors
    path = configuration.database
    logger = surroundings.logger
    let followers = EpochFollowers(configuration.state.epochRenewed)
    let position = configuration.position
    let (keeper, kept, publisherState) = configuration.keepers(at: position, logger)
    self.kept = kept
    self.publisherState = publisherState
    let epochs = FileEpochs(startingWith: configuration.state.epoch ?? position?.epoch ?? keeper?.epoch) {
      followers.tell($0)
    }
    do {
      let users = FileUsers(path: path)
      transactions = try configuration.transactions(
        surroundings.auditLog, forwardingTo: surroundings.replication?.replica(name?.description), kept, epochs, users)
      output = SessionOutput(
        surroundings.gateway, transactions, Greeting(configuration.limits, epochs), surroundings.rejections,
        waiter: waiter)
      pool = try ControllerPool(
        FollowerConfiguration(configuration, keeper), followers: configuration.limits.followers, output: output,
        epochs: epochs, users: users, journal: configuration.journal(logger), sharing: surroundings.readers,
        logger: logger)
    } catch {
      throw ServerError("cannot open \(path): \(ServerError.sentence(of: error))")
    }
    if case .publisher(let publishing) = surroundings.replication?.part,
      let settings = configuration.replicationSettings
    {
      published = PublishedDatabase(publishing, settings, pool, transactions, publisherState, logger: logger)
    } else {
      published = nil
    }
    followers.add(published)
  }

  /// To be called once, when clients can come.
  func start() {
    published?.start()
    checkPublishedQueries()
    openKeptQueries()
  }

  /// Opens the published queries that are kept open: once for each role that may ask them.
  private func openKeptQueries() {
    for published in configuration.access.queries.list where published.isKept {
      var query = published.sample
      query.access.isPublished = true
      let roles = configuration.access.roles.filter { $0.value.queries.contains(published.name) }.keys
      let askers: [String?] = configuration.access.roles.isEmpty || published.isUnfiltered ? [nil] : roles.sorted()
      for role in askers {
        query.access.role = role
        pool.follower(for: query).post(.keep(query))
      }
    }
  }

  /// Warns of published queries that this database cannot answer. They stay published, because the schema may change.
  private func checkPublishedQueries() {
    for published in configuration.access.queries.list {
      let query = published.sample
      pool.follower(for: query).post(
        .explain(query) { [logger] result in
          guard case .failure(let error) = result else { return }
          logger.warning("the published query \(published.name) cannot be answered: \(error.message)")
        })
    }
  }

  /// Sessions have drained.
  ///
  /// - Parameter waiters: by the bits of `Gateway.isDrained`.
  func sessionsDrained(_ waiters: UInt64) { pool.sessionsDrained(for: output.followers(among: waiters)) }

  /// The name of its file without its folder.
  var fileName: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Whether changes are put into a log, and whether that is about to begin.
  var isPublished: Bool { published?.isPublishing == true }
  var isBeginningToPublish: Bool { published?.isBeginning == true }

  /// Whether the file is there, and whether the system lets the server write it; nil: the file is missing, or another
  /// server writes it.
  var isWritable: Bool? {
    // The server writes a replica's file itself, even if clients may not write.
    let isReplica = configuration.replication?.role == .replica
    return isReplica || FileIdentity(path: path) == nil ? nil : transactions?.isWritable
  }

  // MARK: - Its end

  /// Waits until the writes that clients asked for are done and answered; later ones are refused. Blocks.
  func drain() { transactions?.drain(grace: configuration.ending.grace) }

  /// Ends everything that follows the file, and keeps its state. It must not be used any more. Blocks.
  func stop() {
    // The publisher stops after the clients' last writes, and before the followers with which it numbers commits.
    published?.stop()
    let promises = { [transactions, kept] in transactions.map(\.kept) ?? kept?.keeper.promises }
    pool.stop { kept?.keep(promises()) }
    if transactions != nil, promises() != nil { kept?.journal.remove() }
  }

  /// The server cannot start.
  func abandon() {
    pool.stop()
    publisherState?.release()
  }
}
