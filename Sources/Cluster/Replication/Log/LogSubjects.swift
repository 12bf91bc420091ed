package import Broker

/// What the streams and subjects of a log are called.
package struct LogSubjects: Sendable {
  private let name: String

  package init(_ address: BrokerAddress) { name = address.stream }

  /// The stream of batches, and its one subject.
  package var log: String { name }
  package var batches: String { "freshet.\(name).log" }
  /// The stream of snapshots, its subjects, and each of them: pieces of files, and what is behind them.
  package var snapshotStream: String { "\(name)-snapshots" }
  package var snapshots: String { "freshet.\(name).snapshots.>" }
  package var snapshotPieces: String { "freshet.\(name).snapshots.pieces" }
  package var snapshotIndex: String { "freshet.\(name).snapshots.index" }
  /// Requests to the writer's server and to all replicas.
  package func writer(_ request: LogRequest) -> String { "freshet.\(name).writer.\(request.rawValue)" }
  package func replicas(_ request: LogRequest) -> String { "freshet.\(name).replicas.\(request.rawValue)" }
  package var allOfWriter: String { "freshet.\(name).writer.>" }
  package var allOfReplicas: String { "freshet.\(name).replicas.>" }
}

/// What one server asks another.
package enum LogRequest: String, Sendable {
  /// Asks the writer for a snapshot.
  case snapshot
  /// Asks the writer to run a client's transaction.
  case transact
  /// Asks every server for its name and position.
  case status
  /// To all replicas, without an answer: how far the writer is.
  case position
}
