import Broker
import Ground

/// Reads the log from a file's position on, and applies it.
///
/// Owner: the replica's thread.
struct LogFollower {
  /// Where following ended, and why.
  struct Lost {
    let loss: LogReader.Loss
    let epoch: String
    let number: Int64
  }

  private let replica: Replica
  private let file: ReplicaFile
  private let subjects: LogSubjects
  private var reader: LogReader
  /// Batches that were read, and not applied yet.
  private var batches: [LogBatch] = []
  private var bytes = 0
  private var sequence: UInt64
  /// For how many milliseconds nothing came although the publisher is ahead.
  private var silence: Int64 = 0

  /// The most that is applied in one transaction, because readers see nothing of it before its end.
  private static let most = (batches: 64, bytes: 4 << 20)
  private static let patience: Int64 = 2_000

  init(_ replica: Replica, _ file: ReplicaFile, _ subjects: LogSubjects) {
    self.replica = replica
    self.file = file
    self.subjects = subjects
    sequence = file.sequence
    reader = LogReader(after: file.position!)
  }

  /// Follows the log. Returns when it does not continue from the file's position, or after `stop`.
  ///
  /// - Returns: nil when it must be called again, to continue.
  /// - Throws: `BrokerError`; anything else when a batch cannot be applied.
  mutating func run() throws -> Lost? {
    // The log may be long, so the known sequence is tried first.
    if sequence > 0 {
      switch try read(from: sequence) {
      case .ended: return nil
      case .lost(let lost) where reader.isInPlace: return lost
      case .lost: break
      }
    }
    reader.startOver()
    switch try read(from: 1) {
    case .ended: return nil
    case .lost(let lost): return lost
    }
  }

  private enum End {
    case ended
    case lost(Lost)
  }

  private mutating func read(from start: UInt64) throws -> End {
    let broker = replica.broker
    let state = try broker.state(ofStream: subjects.log)
    if start > 1, start > state.last || start < state.first { return notHere() }
    let messages = try broker.read(subjects.batches, of: subjects.log, from: start)
    replica.note { $0.description = "following" }
    while !replica.worker.mustStop {
      guard let message = try messages.next(timeout: 100) else {
        if isStale(100) { return .ended }
        continue
      }
      silence = 0
      let at = message.sequence
      let read = message.withBytes { LogMessage($0) }
      switch reader.take(read) {
      case .nothing: if reader.isInPlace, batches.isEmpty { replica.reached(reader.position, batches: 0) }
      case .batch(let batch):
        batches.append(batch)
        bytes += batch.contents.count
        reader.advance(past: batch)
        sequence = at
      case .lost(let loss):
        try apply()
        return .lost(
          Lost(loss: loss, epoch: read?.epoch ?? reader.position.epoch, number: read?.number ?? reader.position.number))
      }
      if !reader.isInPlace, at >= state.last { return notHere() }
      let isMuch = batches.count >= Self.most.batches || bytes >= Self.most.bytes
      if !batches.isEmpty, isMuch || !messages.hasMore { try apply() }
    }
    return .ended
  }

  /// The end for a log that does not contain the file's position.
  private func notHere() -> End {
    .lost(Lost(loss: .gap, epoch: reader.position.epoch, number: reader.position.number + 1))
  }

  private mutating func apply() throws {
    if batches.isEmpty { return }
    let comparisons = try file.apply(
      batches, leadingTo: reader.position, sequence: sequence, comparing: replica.comparesContents)
    replica.reached(reader.position, batches: batches.count, comparisons: comparisons)
    batches = []
    bytes = 0
  }

  /// Whether nothing has come for long although the publisher is ahead: the stream that was subscribed to may be gone.
  private mutating func isStale(_ milliseconds: Int64) -> Bool {
    guard let notice = replica.state.notice,
      notice.epoch != reader.position.epoch || notice.number > reader.position.number
    else {
      silence = 0
      return false
    }
    silence += milliseconds
    return silence > Self.patience
  }
}
