/// Assembles batches from messages, and checks that each follows what was applied. Pure, because docs/replication.pml
/// has a model of it. A broker may repeat messages, lose some of the newest that it had acknowledged, and be given them
/// again; messages come in their order otherwise. The publisher may end in the middle of a batch.
package struct LogReader: Sendable {
  package enum Outcome: Equatable, Sendable {
    /// Nothing to do: a part of a batch, or something that was applied before.
    case nothing
    /// To be applied now.
    case batch(LogBatch)
    /// The log does not continue from what was applied.
    case lost(Loss)
  }

  /// Why a replica has to start from a snapshot.
  package enum Loss: String, Equatable, Sendable {
    /// Batches are missing.
    case gap
    /// The log's history differs from the one that was applied.
    case fork
    /// The publisher has started anew, or its file was replaced.
    case epoch
    /// The publisher has announced changes that are not in the log.
    case cut
    /// A message is not one of a log of this version.
    case malformed
  }

  /// The position up to which the log is applied.
  package private(set) var position: LogPosition
  /// Whether the position was found in the log. Until then, messages of other positions are skipped.
  package private(set) var isInPlace = false
  /// Parts of the next batch.
  private var parts: [LogMessage] = []

  package init(after position: LogPosition) { self.position = position }

  package mutating func take(_ message: LogMessage?) -> Outcome {
    guard let message else { return lost(.malformed) }
    guard message.epoch == position.epoch else { return isInPlace ? lost(.epoch) : .nothing }
    if message.number < position.number { return .nothing }
    if message.number == position.number {
      if message.hash != position.hash { return lost(.fork) }
      // This message ends the batch that was applied last: the log continues here.
      isInPlace = isInPlace || message.isLast
      return .nothing
    }
    if message.number > position.number + 1 { return lost(.gap) }
    if message.previous != position.hash { return lost(.fork) }
    isInPlace = true
    return add(message)
  }

  /// Adds a part of the next batch.
  private mutating func add(_ message: LogMessage) -> Outcome {
    if message.part == 0 {
      parts = [message]
    } else if message.part == parts.count {
      // The parts may come from two attempts to publish the batch.
      if let first = parts.first, first.hash != message.hash { return lost(.fork) }
      parts.append(message)
    } else {
      return message.part < parts.count ? .nothing : lost(.gap)
    }
    guard message.isLast else { return .nothing }
    if message.kind == .cut { return lost(.cut) }
    var batch = LogBatch(
      message.kind, epoch: message.epoch, began: message.began, number: message.number,
      commitBefore: message.commitBefore, commit: message.commit, time: message.time)
    batch.contents.reserveCapacity(parts.reduce(0) { $0 + $1.contents.count })
    for part in parts { batch.contents += part.contents }
    parts = []
    if batch.hash(after: position.hash) != message.hash { return lost(.fork) }
    return .batch(batch)
  }

  /// Records that a batch was applied.
  package mutating func advance(past batch: LogBatch) { position = position.after(batch) }

  /// Called before the stream is read again from another sequence.
  package mutating func startOver() {
    isInPlace = false
    parts = []
  }

  private mutating func lost(_ loss: Loss) -> Outcome {
    parts = []
    return .lost(loss)
  }
}
