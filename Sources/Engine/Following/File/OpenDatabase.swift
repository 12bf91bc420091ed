package import ChangeCapture
package import Ground
package import Store

/// An open database file, and what is known about it.
///
/// Owner: the thread that opened it.
package final class OpenDatabase: FileConnection {
  @exclusivity(unchecked) package var schema = DatabaseSchema.empty
  package let connection: DatabaseConnection
  package var file: FileIdentity? { connection.file }
  package var files: WALFiles { connection.files }
  package var isOverwritten: Bool { connection.capture.lookAtContents() != .own }
  package var staleGeneration: UInt64? { connection.capture.staleGeneration }
  package func noteOverwritten(_ staleGeneration: UInt64?) { connection.capture.noteOverwritten(staleGeneration) }
  package func noteReportedWrite() { connection.capture.noteReportedWrite() }
  package func noteStale() { connection.capture.noteStale() }
  package var isUseless: Bool { connection.hasOtherEncoding }

  /// The busy timeout while opening a file, in milliseconds. The follower's clients wait during this time.
  private static let patience: Int32 = 200

  /// - Parameters:
  ///   - readsPosition: whether the file is a replica's.
  ///   - captures: see `ChangeCapture`.
  ///   - state: the kept state of the file; nil if nothing was kept.
  package init(
    path: String, _ settings: ChangeCapture.Settings, clock: MonotonicClock, readsPosition: Bool = false,
    sharing captures: FileCaptures? = nil, restoring state: CaptureState? = nil
  ) throws {
    let location = try ReadOnlyFile.location(path, patience: Self.patience)
    try MountedFile.check(path, location)
    connection = try DatabaseConnection(
      path: path, location: location, settings, clock: clock, readsPosition: readsPosition, sharing: captures,
      restoring: state)
  }
}

/// The file holder of a thread that follows the file.
package typealias DatabaseHolder = FileHolder<OpenDatabase, any Error>
