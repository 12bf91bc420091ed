package import ChangeCapture
package import Store

/// A state of a file, comparable between connections.
package struct StatePlace: Sendable {
  package let file: FileIdentity
  package let state: StateName
  package let schemaVersion: Int64
  /// Nil unless the file is a replica's.
  package let position: ReplicaPosition?

  /// Whether results of one state can be brought to the other.
  package func hasSameSchema(as other: StatePlace) -> Bool {
    file == other.file && schemaVersion == other.schemaVersion && position?.epoch == other.position?.epoch
  }

  package func isSame(as other: StatePlace) -> Bool { hasSameSchema(as: other) && state.isSame(as: other.state) }
}
