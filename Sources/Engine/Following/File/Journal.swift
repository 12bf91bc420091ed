package import ChangeCapture
package import Ground
package import Logging
import Synchronization

/// The knowledge of a capture's owner that is kept with the capture's state.
package protocol KeptWithState: Sendable {
  /// - Throws: where the bytes are not those of `add(to:)`.
  init(_ reader: inout ByteReader) throws(ByteReader.Malformed)
  func add(to writer: inout ByteWriter)
}

/// The state of a file that a process keeps for the next one: that of one capture, and of its owner.
///
/// A process reads it once. Whether to go on from it is up to the owner: the state may be the last of its process
/// (`isLast`), or written since the machine was started (`isOfThisStart`). From then on it is not the last of any
/// process; but a process that ends before its owner has begun anything (`begin`) has changed nothing, and leaves it as
/// it was. States are encoded and written on a thread of their own. If several wait for it, only the newest is written.
///
/// Any thread. Mutable state, in a mutex: what was found, and what is to be written.
package final class Journal<Memory: KeptWithState>: Sendable {
  package struct Kept: Sendable {
    package var state: CaptureState
    package var memory: Memory

    package init(state: CaptureState, memory: Memory) { (self.state, self.memory) = (state, memory) }
  }

  package struct Found: Sendable {
    package let kept: Kept
    /// Nothing came after it in the process that kept it.
    package let isLast: Bool
    /// The machine has not been started since: what was written without a sync is there as well.
    package let isOfThisStart: Bool
  }

  private struct Work {
    var found: Found?
    var hasBegun = false
    var isReleased = false
    var waiting: (kept: Kept, done: @Sendable () -> Void)?
    var isWriting = false
    var hasWarned = false
  }

  private let file: StateFile
  private let work: Mutex<Work>
  private let writing = JoinedThread()
  private let logger: Logger

  /// Takes the file of a database, and reads it. A warning says why what is there cannot be used.
  ///
  /// - Parameter part: what it is for.
  /// - Throws: a sentence: the folder cannot be used, or another process has the file.
  package init(of database: String, part: String, in folder: String, logger: Logger) throws(StateFailure) {
    file = try StateFile(of: database, part: part, in: folder)
    self.logger = logger
    var found: Found?
    do throws(StateFailure) { found = try Self.read(file, database) } catch {
      logger.warning("what was kept for this start cannot be used: \(error)")
    }
    work = Mutex(Work(found: found))
  }

  deinit { release() }

  /// The path of the state; what else is kept has it with another suffix.
  package var path: String { file.path }

  // MARK: - Reading

  private static func read(_ file: StateFile, _ database: String) throws(StateFailure) -> Found? {
    guard let found = try file.read(), found.state.isOf(path: database) else { return nil }
    return found.state.payload.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let start = try? reader.text(), let memory = try? Memory(&reader), reader.isAtEnd else { return nil }
      return Found(
        kept: Kept(state: found.state, memory: memory), isLast: found.isLast,
        isOfThisStart: MachineStart.isCurrent(start))
    }
  }

  /// The state that the former process kept, until it is forgotten.
  package var found: Found? { work.withLock { $0.found } }

  package func forgetFound() { work.withLock { $0.found = nil } }

  /// The owner begins, with what was found or without it.
  package func begin() { work.withLock { $0.hasBegun = true } }

  // MARK: - Writing

  /// Has a state written soon.
  ///
  /// - Parameter done: called on the thread that writes, also where that failed, but not for a state in whose place a
  ///   newer one was written.
  package func keep(_ kept: Kept, done: @escaping @Sendable () -> Void = {}) {
    let mustStart = work.withLock { work in
      work.waiting = (kept, done)
      defer { work.isWriting = true }
      return !work.isWriting
    }
    if mustStart { writing.start { [self] in writeWaiting() } }
  }

  private func writeWaiting() {
    while let (kept, done) = takeWaiting() {
      write(kept, isLast: false)
      done()
    }
  }

  private func takeWaiting() -> (Kept, @Sendable () -> Void)? {
    work.withLock { work in
      let next = work.waiting.take()
      work.isWriting = next != nil
      return next
    }
  }

  private func write(_ kept: Kept, isLast: Bool) {
    var writer = ByteWriter()
    writer.add(MachineStart.name)
    kept.memory.add(to: &writer)
    var state = kept.state
    state.payload = writer.bytes
    do throws(StateFailure) {
      try file.write(state, isLast: isLast)
      work.withLock { $0.hasWarned = false }
    } catch {
      // Once, because it is tried again and again.
      let isFirst = work.withLock { work in
        defer { work.hasWarned = true }
        return !work.hasWarned
      }
      if isFirst { logger.warning("what is known of the file cannot be kept for the next start: \(error)") }
    }
  }

  /// When this returns, no state is on the disk, until the last one is written.
  package func remove() { file.remove() }

  /// Writes the last state of this process.
  package func finish(with last: Kept) {
    writing.join()
    write(last, isLast: true)
  }

  /// Releases the file to other processes. It is not written afterwards.
  package func release() {
    writing.join()
    let isUntouched = work.withLock { work in
      defer { work.isReleased = true }
      return !work.hasBegun && !work.isReleased
    }
    if isUntouched { file.putBack() }
    file.release()
  }
}
