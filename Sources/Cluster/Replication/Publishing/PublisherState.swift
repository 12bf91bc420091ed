package import ChangeCapture
import Following
import Ground
package import Logging

/// The state that a publisher keeps when it ends, so that the next one continues its epoch: the memory of its capture,
/// and the position in the log of that state.
///
/// It is kept only when the stream has everything, and used only when the stream still ends there. A process that is
/// killed keeps nothing, so the next one begins an epoch.
///
/// Any thread.
package final class PublisherState: Sendable {
  typealias Kept = Journal<PublishedPosition>.Kept

  private let journal: Journal<PublishedPosition>

  /// Locks the kept state of a database, and reads it.
  ///
  /// - Throws: a sentence that says why no state can be kept.
  package init(of database: String, in folder: String, logger: Logger) throws(StateFailure) {
    journal = try Journal(of: database, part: "log", in: folder, logger: logger)
  }

  private func found(_ epoch: String) -> Kept? {
    journal.found.flatMap { $0.isLast && $0.kept.memory.position.epoch == epoch ? $0.kept : nil }
  }

  /// Whether there is a kept state of this epoch to continue from.
  package func continues(_ epoch: String) -> Bool { found(epoch) != nil }

  /// Takes the kept state, once: from now on the published changes are newer.
  func take(_ epoch: String) -> Kept? {
    defer { journal.forgetFound() }
    journal.begin()
    journal.remove()
    return found(epoch)
  }

  /// Keeps the state with which the publisher has ended.
  func keep(_ last: Kept) { journal.finish(with: last) }

  /// Releases the lock: the publisher has ended, or the server cannot start.
  package func release() { journal.release() }
}

/// The position in the log that a state is of, and when its epoch began.
struct PublishedPosition: KeptWithState {
  var position: LogPosition
  var began: Int64
}

extension PublishedPosition {
  init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    let (epoch, number, commit) = (try reader.text(), try reader.signed(), try reader.signed())
    began = try reader.signed()
    position = LogPosition(epoch: epoch, number: number, commit: commit, hash: Array(try reader.bytes(Digest.size)))
  }

  func add(to writer: inout ByteWriter) {
    writer.add(position.epoch)
    writer.add(position.number)
    writer.add(position.commit)
    writer.add(began)
    writer.add(plain: position.hash)
  }
}
