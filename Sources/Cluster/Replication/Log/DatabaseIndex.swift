package import Broker
import Foundation

/// The databases of a folder's log: a stream with the last notice of each, for replicas that start later.
package struct DatabaseIndex: Sendable {
  /// The writer's server's notice of a database.
  package struct Notice: Codable, Equatable, Sendable {
    package var name: String
    /// Whether the database was removed, and its streams with it.
    package var isRemoved: Bool
    /// When the notice was sent, in milliseconds since 1970.
    package var time: Int64

    package init(_ name: String, isRemoved: Bool) {
      (self.name, self.isRemoved, time) = (name, isRemoved, wallClockMilliseconds())
    }
  }

  private let broker: BrokerConnection
  private let configuration: StreamConfiguration
  private let prefix: String

  /// - Parameter replicas: servers of the broker's cluster that keep a copy of each stream.
  package init(_ broker: BrokerConnection, replicas: Int = 1) {
    self.broker = broker
    prefix = "freshet.\(broker.address.stream).databases"
    var configuration = StreamConfiguration(name: "\(broker.address.stream)==databases", subject: "\(prefix).*")
    configuration.replicas = replicas
    configuration.messagesOfSubject = 1
    self.configuration = configuration
  }

  /// The number of databases with a notice; nil: no notice was ever written, or the broker has lost it.
  package func count() throws(BrokerError) -> Int? { try state().map { Int($0.messages) } }

  /// Makes the stream if it is missing.
  package func ensure() throws(BrokerError) { try broker.ensure(configuration) }

  package func say(_ notice: Notice) throws(BrokerError) {
    guard let bytes = try? JSONEncoder().encode(notice) else { return }
    let token = LogSubjects.token(of: notice.name)
    _ = try broker.append(Array(bytes), to: "\(prefix).\(token)", id: "\(token).\(UUID().uuidString)")
  }

  /// The number of the last message; nil: there is no stream.
  package func end() throws(BrokerError) -> UInt64? { try state()?.last }

  private func state() throws(BrokerError) -> StreamState? {
    do throws(BrokerError) { return try broker.state(ofStream: configuration.name) } catch {
      if error.reason == .notFound { return nil }
      throw error
    }
  }

  /// The last notice of each database.
  package func all() throws(BrokerError) -> [Notice] {
    guard let state = try state(), state.messages > 0 else { return [] }
    let messages = try read()
    var notices: [Notice] = []
    while let message = try messages.next(timeout: 5_000) {
      if let notice = Notice(message) { notices.append(notice) }
      if message.sequence >= state.last { break }
    }
    return notices
  }

  /// The last notice of each database, and all later notices.
  package func read() throws(BrokerError) -> BrokerSubscription {
    try broker.read("\(prefix).*", of: configuration.name, from: 1)
  }

  /// Deletes the streams of a database from the broker.
  package func removeStreams(of database: String) throws(BrokerError) {
    let subjects = LogSubjects(broker.address, database: database)
    for name in [subjects.log, subjects.snapshotStream] { try broker.remove(name) }
  }
}

extension DatabaseIndex.Notice {
  package init?(_ message: BrokerMessage) {
    guard let notice = try? JSONDecoder().decode(Self.self, from: Data(message.bytes)) else { return nil }
    self = notice
  }
}
