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
  /// What is asked of the server beside the writers, and of all replicas.
  package func writer(_ request: LogRequest) -> String { "freshet.\(name).writer.\(request.rawValue)" }
  package func replicas(_ request: LogRequest) -> String { "freshet.\(name).replicas.\(request.rawValue)" }
  package var allOfWriter: String { "freshet.\(name).writer.>" }
  package var allOfReplicas: String { "freshet.\(name).replicas.>" }
}

/// What one server asks another.
package enum LogRequest: String, Sendable {
  /// Of the writer: that a snapshot is made.
  case snapshot
  /// Of the writer: that a client's transaction is run.
  case transact
  /// Of all: who they are and how far.
  case status
  /// To all replicas, without an answer: how far the writer is.
  case position
}
