import Broker
import LiveQuery
import Logging
import Replication
import Synchronization

/// A server's part in replication: it publishes its databases, or makes them. All of them share a connection to the
/// broker.
///
/// Everything in it is constant after `init`, or guards itself.
final class ServerReplication: Sendable {
  /// Shared by publishers.
  struct Publishing: Sendable {
    let broker: BrokerConnection
    let service: WriterService
  }

  enum Part: Sendable {
    case publisher(Publishing)
    case replica(ReplicaService)
  }

  let settings: ReplicationSettings
  let broker: BrokerConnection
  let part: Part
  let isFolder: Bool
  /// Whether the list of a folder's databases is known, and all of them have been loaded.
  private let isListed: Atomic<Bool>
  private let isLoaded = Atomic<Bool>(false)

  /// - Parameter isFolder: whether several databases share the address.
  /// - Throws: for settings that cannot be used.
  init(_ settings: ReplicationSettings, isFolder: Bool) throws(BrokerError) {
    self.settings = settings
    self.isFolder = isFolder
    isListed = Atomic(!isFolder)
    let name = settings.role == .publisher ? "freshet publisher" : "freshet replica"
    broker = try BrokerConnection(settings.address, settings.credentials, name: name)
    let subjects = isFolder ? LogSubjects.ofEach(settings.address) : LogSubjects(settings.address)
    part =
      switch settings.role {
      case .publisher: .publisher(Publishing(broker: broker, service: WriterService(broker, subjects)))
      case .replica: .replica(ReplicaService(broker, subjects))
      }
  }

  func start() {
    switch part {
    case .publisher(let publishing): publishing.service.start()
    case .replica(let service): service.start()
    }
  }

  func stop() {
    switch part {
    case .publisher(let publishing): publishing.service.stop()
    case .replica(let service):
      service.stop()
      let replicas = service.replicas
      for replica in replicas { replica.requestStop() }
      for replica in replicas { replica.stop() }
    }
  }

  // MARK: - Replicas

  /// Begins to make a file.
  ///
  /// - Parameters:
  ///   - name: the name of the database in its folder.
  ///   - refused: called once, on the replica's thread, when the replica has ended because another program replaced its
  ///     file.
  /// - Throws: if the file was not made by a replica.
  func makeReplica(
    _ name: String?, at path: String, logger: Logger, refused: @escaping @Sendable (ForeignFile) -> Void
  ) throws(ForeignFile) {
    guard case .replica(let service) = part else { return }
    var settings = settings
    settings.database = name
    let replica = try Replica(path, settings, broker, logger: logger)
    service.add(replica)
    replica.start { [weak service] error in
      service?.remove(replica)
      refused(error)
    }
  }

  /// - Returns: whether there was one.
  func endReplica(_ name: String) -> Bool {
    guard case .replica(let service) = part, let replica = replica(name) else { return false }
    service.remove(replica)
    replica.stop()
    return true
  }

  /// The replica that makes a file; nil: none.
  func replica(_ name: String?) -> Replica? {
    guard case .replica(let service) = part else { return nil }
    return service.replica(name.map { LogSubjects(settings.address, database: $0) } ?? LogSubjects(settings.address))
  }

  /// Called when the list of a folder's databases is known, and each has a replica.
  func noteListed() { isListed.store(true, ordering: .releasing) }

  /// The error that keeps replicas from being ready; nil: none. A publisher is ready in any state of the log.
  ///
  /// In a folder, all databases must have been loaded once; then one that is up to date is enough, so that a database
  /// that cannot be published, or is just being made, does not make the others unavailable.
  var readingFailure: FreshetError? {
    guard case .replica(let service) = part else { return nil }
    guard isListed.load(ordering: .acquiring) else {
      return FreshetError(.overloaded, "it is not known yet which databases the log has")
    }
    let states = service.replicas.map(\.state)
    if !isLoaded.load(ordering: .relaxed), let missing = states.first(where: { $0.position == nil }) {
      return failure(of: missing)
    }
    isLoaded.store(true, ordering: .relaxed)
    let failures = states.map(failure(of:))
    return failures.contains(nil) ? nil : failures.first ?? nil
  }

  private func failure(of state: Replica.State) -> FreshetError? {
    guard let lag = state.lag else {
      return FreshetError(.overloaded, "the replica is not up to date yet: \(state.description)")
    }
    if lag <= Int64(settings.longestLag) * 1_000 { return nil }
    return FreshetError(.overloaded, "the replica may be \(lag / 1_000) s behind: \(state.description)")
  }
}
