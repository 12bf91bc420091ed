package import ChangeCapture
import Ground
import LiveQuery
package import Logging
import Store
import Synchronization

/// Keeps what followers know of the file, so that the next process goes on with it: one state for each follower.
///
/// **Numbers.** Names of versions have the epoch and a commit, so within an epoch no two states may have one number. Where all states are the
/// last of their process, no higher number was given, and the next process goes on with the next one. Where one is not (the process was
/// killed), higher numbers may have been given to states that nobody knows any more: the next process leaves out at
/// least as many as could have been given (`leftOut`), and a random part more, because a machine that is set back goes on from the same state twice. Names with
/// numbers in between are not honoured.
///
/// **Promises.** A server that has told clients what came of their transactions (`once`) has to know it for as long as the epoch lasts. What
/// it knows is kept with the last state, and until then by its owner. Where that cannot write, there is no state on the disk from the next such
/// transaction on (`promise`), and a process that is killed takes the epoch with it.
///
/// Any thread. Mutable state, in a mutex: what is to be written.
package final class StateKeeper: Sendable {
  /// What one follower hands over.
  struct Part {
    var state: CaptureState
    var memory: KeptMemory
  }

  /// What there was at the beginning.
  private struct Beginning {
    var epoch: String?
    var first: Int64?
    var parts: [Part?]
    var promises: [UInt8] = []
  }

  private struct Work {
    /// Not yet taken up.
    var restored: [Part?]
    /// By follower, what was handed over last and is not written.
    var waiting: [Int: Part] = [:]
    /// By follower, with what it has ended.
    var last: [Int: Part] = [:]
    var isWriting = false
    var hasWarned = false
    /// What is known of transactions that clients may repeat.
    var promises: [UInt8]
    var hasPromised = false
    /// A follower has opened the file.
    var hasBegun = false
  }

  private let files: [StateFile]
  private let work: Mutex<Work>
  private let writing = JoinedThread()
  private let logger: Logger
  /// The epoch to go on in; nil: there is none.
  package let epoch: String?
  /// The number of the file's next state; nil: there is no epoch to go on in.
  package let first: Int64?
  /// What the process before knew of transactions that clients may repeat; opaque here.
  package let promises: [UInt8]
  /// The time between two writes while the file changes.
  let interval: Nanoseconds

  /// More numbers than are given while no state can be written.
  private static let leftOut: Int64 = 1 << 32
  /// The highest number with which a process begins: JavaScript has integers up to 2^53.
  private static let highest: Int64 = 1 << 52

  /// Takes the states of a database, and reads them.
  ///
  /// - Parameters:
  ///   - room: numbers to leave for states before the first that followers see.
  ///   - continues: whether the epoch can be gone on in, and these promises be kept.
  /// - Throws: a sentence why states cannot be kept.
  package init(
    of database: String, in folder: String, followers: Int, interval: Duration = .seconds(60), room: Int64 = 0,
    logger: Logger, continues: (_ epoch: String, _ promises: [UInt8]) -> Bool = { $1.isEmpty }
  ) throws(StateFailure) {
    self.logger = logger
    self.interval = Nanoseconds(interval)
    var files: [StateFile] = []
    for number in 0..<followers { files.append(try StateFile(of: database, part: "\(number)", in: folder)) }
    self.files = files
    let beginning = Self.read(files, of: database, logger, continues)
    (epoch, first, promises) = (beginning.epoch, beginning.first.map { $0 + room }, beginning.promises)
    work = Mutex(Work(restored: beginning.parts, promises: beginning.promises))
  }

  /// A server that could not start has changed nothing.
  deinit { if !work.withLock({ $0.hasBegun }) { for file in files { file.putBack() } } }

  // MARK: - Beginning

  private static func read(
    _ files: [StateFile], of database: String, _ logger: Logger, _ continues: (String, [UInt8]) -> Bool
  ) -> Beginning {
    var parts: [Part?] = []
    var areLast = true
    var promises: [UInt8]?
    for file in files {
      do throws(StateFailure) {
        let found = try file.read()
        let part = found.flatMap { found in
          found.state.payload.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return (try? KeptMemory(&reader)).map { Part(state: found.state, memory: $0) }
          }
        }
        if parts.isEmpty { promises = part?.memory.promises }
        areLast = areLast && part != nil && found?.isLast == true
        parts.append(part.flatMap { $0.state.isOf(path: database) ? $0 : nil })
      } catch {
        logger.warning("the state that was kept cannot be used: \(error)")
        areLast = false
        parts.append(nil)
      }
    }
    guard let newest = parts.compactMap(\.?.memory).max(by: { $0.highest < $1.highest }), newest.highest < highest,
      let promises, continues(newest.epoch, promises), parts.first??.memory.epoch == newest.epoch
    else { return Beginning(epoch: nil, first: nil, parts: parts.map { _ in nil }) }
    let first = newest.highest + 1 + (areLast ? 0 : leftOut + .random(in: 0..<leftOut))
    // A follower may have written before the epoch began.
    parts = parts.map { $0?.memory.epoch == newest.epoch ? $0 : nil }
    return Beginning(epoch: newest.epoch, first: first, parts: parts, promises: promises)
  }

  /// What a follower has to go on with; nil: nothing.
  func restored(_ follower: Int) -> Part? {
    work.withLock { work in
      work.hasBegun = true
      return work.restored.indices.contains(follower) ? work.restored[follower] : nil
    }
  }

  /// The follower has gone on with it, or cannot.
  func forgetRestored(_ follower: Int) {
    work.withLock { if $0.restored.indices.contains(follower) { $0.restored[follower] = nil } }
  }

  // MARK: - Keeping

  /// Has a follower's state written, on another thread.
  func keep(_ part: Part, of follower: Int) {
    let mustStart = work.withLock { work in
      // They were of another epoch.
      if part.memory.epoch != epoch { work.promises = [] }
      if work.hasPromised { return false }
      work.waiting[follower] = part
      if work.isWriting { return false }
      work.isWriting = true
      return true
    }
    if mustStart { writing.start { [self] in writeWaiting() } }
  }

  /// A follower has ended with this state: it is written by `finish`.
  func end(with part: Part, of follower: Int) { work.withLock { $0.last[follower] = part } }

  /// A client is about to be told what came of a transaction, and nothing else keeps that. Returns when no state is on the disk that knows nothing of it.
  package func promise() {
    let isFirst = work.withLock { work in
      defer { work.hasPromised = true }
      return !work.hasPromised
    }
    if isFirst { for file in files { file.remove() } }
  }

  private func writeWaiting() {
    while let (follower, part) = takeWaiting() { write(part, of: follower, isLast: false) }
  }

  private func takeWaiting() -> (Int, Part)? {
    work.withLock { work in
      guard let next = work.waiting.popFirst() else {
        work.isWriting = false
        return nil
      }
      return (next.key, next.value)
    }
  }

  private func write(_ part: Part, of follower: Int, isLast: Bool) {
    var state = part.state
    let promises = follower == 0 ? work.withLock { $0.promises } : []
    var memory = part.memory
    memory.promises = promises
    var writer = ByteWriter()
    memory.add(to: &writer)
    state.payload = writer.bytes
    do throws(StateFailure) {
      try files[follower].write(state, isLast: isLast)
      work.withLock { $0.hasWarned = false }
    } catch {
      // Once, for it is tried again and again.
      let isFirst = work.withLock { work in
        defer { work.hasWarned = true }
        return !work.hasWarned
      }
      if isFirst { logger.warning("what is known of the file cannot be kept for the next start: \(error)") }
    }
  }

  /// What is known at the end of transactions that clients may repeat; nil: not everything, so nothing is kept.
  package func end(withPromises promises: [UInt8]?) {
    work.withLock { work in
      work.promises = promises ?? []
      // Without anything to be known there was no promise.
      work.hasPromised = promises == nil
    }
    if promises != nil { return }
    logger.warning("what came of the last transactions is not known: the next start begins another epoch")
    for file in files { file.remove() }
  }

  /// Writes the last states. To be called once, after all that gives numbers has ended.
  ///
  /// - Parameter highest: the highest number that was given.
  package func finish(highest: Int64) {
    defer { for file in files { file.release() } }
    writing.join()
    if work.withLock({ $0.hasPromised }) { return }
    for (follower, part) in work.withLock({ $0.last }) {
      var part = part
      part.memory.highest = max(part.memory.highest, highest)
      write(part, of: follower, isLast: true)
    }
  }
}
