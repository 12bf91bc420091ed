import Broker
import Foundation
import Logging

/// Puts the copy of a file into the stream of snapshots.
struct SnapshotSender {
  let broker: BrokerConnection
  let settings: ReplicationSettings
  let logger: Logger
  let mustStop: @Sendable () -> Bool

  /// Sends a snapshot. The stream also keeps the previous one, for replicas that are reading it.
  ///
  /// - Parameter path: the path of the copy.
  /// - Parameter logSequence: the sequence of the log's message that led to the position; 0: unknown.
  func send(_ path: String, showing position: LogPosition, logSequence: UInt64) throws {
    let subjects = settings.subjects
    var configuration = StreamConfiguration(name: subjects.snapshotStream, subject: subjects.snapshots)
    configuration.replicas = settings.replicas
    try broker.ensure(configuration)
    let before = try SnapshotIndex.newest(in: broker, subjects)
    guard let file = FileHandle(forReadingAtPath: path) else { throw ReplicationFailure("cannot read \(path)") }
    defer { try? file.close() }
    let size = pieceSize(longest: broker.longestMessage)
    var index = SnapshotIndex(
      id: UUID().uuidString, position: position, logSequence: logSequence, firstSequence: 0, pieces: 0, bytes: 0,
      digest: [],
      time: wallClockMilliseconds())
    let digest = Digest()
    while let piece = try file.read(upToCount: size), !piece.isEmpty {
      if mustStop() { return }
      let compressed = piece.withUnsafeBytes { bytes in
        digest.add(bytes)
        return Deflate.compress(bytes)
      }
      let message = SnapshotMessage.piece(id: index.id, index: index.pieces, length: piece.count, bytes: compressed)
      let sequence = try broker.append(message.bytes, to: subjects.snapshotPieces, id: "\(index.id).\(index.pieces)")
      if index.pieces == 0 { index.firstSequence = sequence }
      index.pieces += 1
      index.bytes += piece.count
    }
    index.digest = digest.value()
    _ = try broker.append(SnapshotMessage.end(index).bytes, to: subjects.snapshotIndex, id: "\(index.id).end")
    try broker.purge(subjects.snapshotStream, before: before?.firstSequence ?? index.firstSequence)
    logger.notice(
      "a snapshot is in the broker",
      metadata: ["bytes": "\(index.bytes)", "pieces": "\(index.pieces)", "batch": "\(position.number)"])
  }

  private func pieceSize(longest: Int) -> Int {
    var size = max(1_024, longest - 256)
    while Deflate.bound(size) + 256 > longest, size > 512 { size -= 512 }
    return size
  }
}

extension SnapshotIndex {
  /// The index of the newest complete snapshot; nil without one.
  static func newest(in broker: BrokerConnection, _ subjects: LogSubjects) throws(BrokerError) -> SnapshotIndex? {
    guard let last = try broker.lastMessage(to: subjects.snapshotIndex, in: subjects.snapshotStream),
      case .end(let index)? = last.message.withBytes({ SnapshotMessage($0) })
    else { return nil }
    return index
  }
}
