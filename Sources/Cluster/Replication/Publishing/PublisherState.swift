package import ChangeCapture
import Ground
import Synchronization

/// What a publisher keeps when it ends, so that the next one goes on in its epoch: what its capture remembers, and the position in the log
/// that this is the state of.
///
/// It is kept only when the stream has everything, and used only when the stream still ends there. A process that is killed keeps nothing:
/// what it has published since it began is in no state, and the next one begins an epoch.
///
/// Any thread.
package final class PublisherState: Sendable {
  struct Kept {
    var state: CaptureState
    var position: LogPosition
    /// When the epoch began.
    var began: Int64
  }

  private let file: StateFile
  private let found: Mutex<Kept?>

  /// Takes the state of a database, and reads it.
  ///
  /// - Throws: a sentence why none can be kept.
  package init(of database: String, in folder: String) throws(StateFailure) {
    file = try StateFile(of: database, part: "log", in: folder)
    var kept: Kept?
    if let read = try? file.read(), read.isLast, read.state.isOf(path: database) { kept = Kept(read.state) }
    found = Mutex(kept)
  }

  /// A server that could not start has changed nothing.
  deinit { putBack() }

  /// Whether there is a state of this epoch to go on from.
  package func continues(_ epoch: String) -> Bool { found.withLock { $0?.position.epoch == epoch } }

  /// What there is to go on from; once. From now on it is older than what is published.
  func take(_ epoch: String) -> Kept? {
    file.remove()
    return found.withLock { found in
      defer { found = nil }
      return found?.position.epoch == epoch ? found : nil
    }
  }

  /// The server cannot start.
  package func putBack() { if found.withLock({ $0 }) != nil { file.putBack() } }

  /// The publisher has ended.
  func release() { file.release() }

  /// - Throws: a sentence.
  func keep(_ kept: Kept) throws(StateFailure) {
    var state = kept.state
    state.payload = kept.payload
    try file.write(state, isLast: true)
  }
}

extension PublisherState.Kept {
  fileprivate var payload: [UInt8] {
    var writer = ByteWriter()
    writer.add(position.epoch)
    writer.add(position.number)
    writer.add(position.commit)
    writer.add(began)
    writer.add(plain: position.hash)
    return writer.bytes
  }

  /// - Returns: nil for anything but what `payload` has.
  fileprivate init?(_ state: CaptureState) {
    do {
      (position, began) = try state.payload.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        let epoch = try reader.text()
        let (number, commit, began) = (try reader.signed(), try reader.signed(), try reader.signed())
        let hash = Array(try reader.bytes(Digest.size))
        return (LogPosition(epoch: epoch, number: number, commit: commit, hash: hash), began)
      }
    } catch { return nil }
    self.state = state
  }
}
