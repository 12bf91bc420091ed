import Broker
import CSQLite
import Foundation
import Ground
import Logging
import Store

/// Finds a snapshot from which the log continues, fetches it, and replaces a replica's file with it.
///
/// Owner: the replica's thread.
struct SnapshotLoader {
  let path: String
  let broker: BrokerConnection
  let subjects: LogSubjects
  let logger: Logger
  let worker: Worker
  /// Called with progress, in words.
  let report: (String) -> Void

  private var incoming: String { path + "-incoming" }

  /// How long to wait for the next piece, in milliseconds.
  private static let patience: Int64 = 10_000
  /// How long to wait for a requested snapshot before asking again, in quarters of a second.
  private static let askingInterval = 8

  /// Where following ended: a snapshot of this epoch must have at least this number.
  struct Need: Equatable {
    var epoch: String
    var number: Int64
  }

  /// - Parameter file: the existing file; nil without one.
  /// - Returns: false after `stop`.
  /// - Throws: `ForeignFile` if a file has appeared that was not made by a replica.
  func load(_ need: Need?, into file: ReplicaFile?) throws -> Bool {
    report("waiting for a snapshot")
    var (waits, asked) = (0, -Self.askingInterval)
    while !worker.mustStop {
      if file == nil { try ForeignFile.check(path) }
      do {
        if let index = try usable(need) {
          try fetch(index)
          try install(index, into: file)
          return true
        }
        if waits - asked >= Self.askingInterval {
          _ = try broker.request([], of: subjects.writer(.snapshot), timeout: 1_000)
          asked = waits
        }
      } catch let error as BrokerError where [.unavailable, .notFound, .noResponder].contains(error.reason) {
        if waits % 40 == 0 { logger.info("waiting for a snapshot: \(error.message)") }
      }
      waits += 1
      worker.rest(milliseconds: 250)
    }
    return false
  }

  /// The newest snapshot, if the log continues from it.
  private func usable(_ need: Need?) throws(BrokerError) -> SnapshotIndex? {
    guard let index = try SnapshotIndex.newest(in: broker, subjects),
      let last = try broker.lastMessage(to: subjects.batches, in: subjects.log),
      let lastMessage = last.message.withBytes({ LogMessage($0) }),
      lastMessage.epoch == index.position.epoch, lastMessage.number >= index.position.number
    else { return nil }
    if let need, need.epoch == index.position.epoch, index.position.number < need.number { return nil }
    let state = try broker.state(ofStream: subjects.log)
    guard let first = try broker.message(state.first, in: subjects.log),
      let firstMessage = first.message.withBytes({ LogMessage($0) })
    else { return nil }
    if firstMessage.epoch == index.position.epoch, firstMessage.number > index.position.number + 1 { return nil }
    return index
  }

  private func fetch(_ index: SnapshotIndex) throws {
    SnapshotCopy.removeDatabase(incoming)
    guard FileManager.default.createFile(atPath: incoming, contents: nil),
      let file = FileHandle(forWritingAtPath: incoming)
    else { throw ReplicationFailure("cannot write \(incoming)") }
    defer { try? file.close() }
    logger.notice("loading a snapshot", metadata: ["bytes": "\(index.bytes)", "batch": "\(index.position.number)"])
    let pieces = try broker.read(subjects.snapshotPieces, of: subjects.snapshotStream, from: index.firstSequence)
    let digest = Digest()
    var (count, bytes, waited) = (0, 0, Int64(0))
    while count < index.pieces {
      if worker.mustStop { return }
      guard let message = try pieces.next(timeout: 200) else {
        waited += 200
        if waited > Self.patience { throw ReplicationFailure("the snapshot stopped coming") }
        continue
      }
      waited = 0
      guard case .piece(let id, let number, let length, let compressed)? = message.withBytes({ SnapshotMessage($0) })
      else { continue }
      // Pieces of an abandoned snapshot may come in between.
      if id != index.id { continue }
      guard number == count, let piece = compressed.withUnsafeBytes({ Deflate.decompress($0, count: length) }) else {
        throw ReplicationFailure("the snapshot has a piece missing")
      }
      digest.add(piece)
      try file.write(contentsOf: piece)
      count += 1
      bytes += length
      if count % 64 == 0 {
        report("loading a snapshot: \(bytes * 100 / max(1, index.bytes)) % of \(index.bytes) bytes")
        if count % 256 == 0 { logger.info("loading a snapshot: \(bytes * 100 / max(1, index.bytes)) %") }
      }
    }
    guard digest.value() == index.digest else { throw ReplicationFailure("the snapshot is damaged") }
  }

  // MARK: - In the file's place

  private func install(_ index: SnapshotIndex, into file: ReplicaFile?) throws {
    if worker.mustStop { return }
    report("installing a snapshot")
    try markPosition(index)
    if let file, try isLike(file) {
      // One transaction replaces the contents, so that lists get a patch.
      defer { SnapshotCopy.removeDatabase(incoming) }
      let source = try Connection(incoming, .making, isPrivate: true)
      try source.withRaw { try Connection.copy($0, into: file.connection) }
      file.cutWAL()
      return
    }
    try ForeignFile.check(path)
    // Connections that have the old ones open continue with them until they see that the file was replaced.
    unlink(path + "-wal")
    unlink(path + "-shm")
    if file == nil {
      // Unlike rename(2), link(2) never replaces another program's file.
      guard link(incoming, path) == 0 else { throw ReplicationFailure("cannot put the snapshot at \(path)") }
      unlink(incoming)
    } else if rename(incoming, path) != 0 {
      throw ReplicationFailure("cannot put the snapshot at \(path)")
    }
  }

  private func markPosition(_ index: SnapshotIndex) throws {
    let file = try ReplicaFile(path: incoming, isPrivate: true)
    try PreparedStatement.run(file.connection, "PRAGMA journal_mode = WAL")
    try file.save(index.position, sequence: index.logSequence, time: index.time)
  }

  /// Whether the snapshot's pages can be copied over the file's while both are open.
  private func isLike(_ file: ReplicaFile) throws -> Bool {
    let fresh = try Connection(incoming, .making, isPrivate: true)
    for pragma in ["page_size", "encoding", "auto_vacuum"] {
      var values: [String] = []
      for connection in [fresh, file.opened] {
        values.append(try connection.first("PRAGMA main.\(pragma)") { $0.text(0) ?? "" } ?? "")
      }
      if values[0] != values[1] { return false }
    }
    return true
  }
}
