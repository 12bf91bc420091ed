import Ground

/// How far the log was published or applied: the state of the file after a batch.
package struct LogPosition: Equatable, Sendable {
  /// New with every start of the publisher, and when its file is replaced. `hello` sends it to clients.
  package var epoch: String
  /// The number of the last batch; 0: the state in which the epoch began.
  package var number: Int64
  /// The protocol's number of the state.
  package var commit: Int64
  /// The hash of everything in the epoch up to here.
  package var hash: [UInt8]
}

extension LogPosition {
  /// Where an epoch begins.
  package init(beginning epoch: String, commit: Int64) {
    let digest = Digest()
    digest.add(Array(epoch.utf8))
    self.init(epoch: epoch, number: 0, commit: commit, hash: digest.value())
  }

  /// The position after one more batch.
  package func after(_ batch: LogBatch) -> LogPosition {
    LogPosition(epoch: epoch, number: batch.number, commit: batch.commit, hash: batch.hash(after: hash))
  }
}

/// The changes that one tick of the publisher found.
package struct LogBatch: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    /// An epoch begins; nothing changed.
    case beginning = 0
    /// Changed rows, and the other items of `BatchContents`.
    case changes = 1
    /// More changed than the log carries: replicas that have not passed it need a snapshot.
    case cut = 2
  }

  package var kind: Kind
  package var epoch: String
  /// When the epoch began, in milliseconds since 1970: of two publishers, the one that began later prevails.
  package var began: Int64
  package var number: Int64
  /// The commit numbers of the states before and after the batch.
  package var commitBefore: Int64
  package var commit: Int64
  /// When it was made, in milliseconds since 1970.
  package var time: Int64
  package var contents: [UInt8]

  package init(
    _ kind: Kind, epoch: String, began: Int64, number: Int64, commitBefore: Int64, commit: Int64, time: Int64,
    contents: [UInt8] = []
  ) {
    (self.kind, self.epoch, self.began, self.number) = (kind, epoch, began, number)
    (self.commitBefore, self.commit, self.time, self.contents) = (commitBefore, commit, time, contents)
  }

  func hash(after previous: [UInt8]) -> [UInt8] {
    var header = ByteWriter()
    header.add(byte: kind.rawValue)
    header.add(epoch)
    header.add(number)
    header.add(commitBefore)
    header.add(commit)
    let digest = Digest()
    digest.add(previous)
    digest.add(header.bytes)
    digest.add(contents)
    return digest.value()
  }
}
