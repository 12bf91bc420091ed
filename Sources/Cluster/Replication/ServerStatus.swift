import Foundation

/// A server's report for `freshet status`.
package struct ServerStatus: Codable, Equatable, Sendable {
  /// `publisher` or `replica`.
  package var role: String
  package var host: String
  package var process: Int32
  package var database: String
  /// The name of the file in a folder; nil: it is the log's only one.
  package var name: String?
  /// Its state: `publishing`, `following`, or the obstacle to it.
  package var state: String
  /// Nil before the first batch or snapshot.
  package var epoch: String?
  package var batch: Int64?
  package var commit: Int64?
  /// How long a replica may have been behind, in milliseconds; nil: unknown.
  package var lag: Int64?
  /// When the server reported this, in milliseconds since 1970.
  package var time: Int64

  init(of publisher: Publisher) {
    let state = publisher.state
    self.init(publisher.settings, publisher.path, state: state.description, state.position)
  }

  init(of replica: Replica) {
    let state = replica.state
    self.init(replica.settings, replica.path, state: state.description, state.position)
    lag = state.lag
  }

  private init(_ settings: ReplicationSettings, _ path: String, state: String, _ position: LogPosition?) {
    role = settings.role.rawValue
    database = path
    name = settings.database
    host = ProcessInfo.processInfo.hostName
    process = ProcessInfo.processInfo.processIdentifier
    self.state = state
    epoch = position?.epoch
    batch = position?.number
    commit = position?.commit
    time = wallClockMilliseconds()
  }

  var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

  package init?(_ bytes: [UInt8]) {
    guard let status = try? JSONDecoder().decode(ServerStatus.self, from: Data(bytes)) else { return nil }
    self = status
  }
}

/// The writer's position, sent to replicas every quarter of a second. With it, a replica knows whether it is behind.
struct PositionNotice: Codable, Equatable {
  var epoch: String
  var number: Int64
  var commit: Int64

  var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

  init(_ position: LogPosition) { (epoch, number, commit) = (position.epoch, position.number, position.commit) }

  init?(_ bytes: [UInt8]) {
    guard let notice = try? JSONDecoder().decode(PositionNotice.self, from: Data(bytes)) else { return nil }
    self = notice
  }
}
