package import ChangeCapture
package import Ground
package import Logging
import Synchronization

/// The knowledge of a capture's owner, which is kept with the capture's state.
package protocol KeptWithState: Sendable {
  /// - Throws: if the bytes are not those of `add(to:)`.
  init(_ reader: inout ByteReader) throws(ByteReader.Malformed)
  func add(to writer: inout ByteWriter)
}

/// Keeps the state of one capture and of its owner for the next process.
///
/// A process reads the state once. The owner decides whether to continue from it: the state may be the last of its
/// process (`isLast`), or may have been written since the machine was started (`isOfThisStart`). Reading removes the
/// mark that it is the last. If the process ends before its owner has begun (`begin`), it has changed nothing, and the
/// mark is restored. A separate thread encodes and writes states. If several are waiting, only the newest is written.
///
/// Any thread. Mutable state, in a mutex: the state that was found, and the state to be written.
package final class Journal<Memory: KeptWithState>: Sendable {
  package struct Kept: Sendable {
    package var state: CaptureState
    package var memory: Memory

    package init(state: CaptureState, memory: Memory) { (self.state, self.memory) = (state, memory) }
  }

  package struct Found: Sendable {
    package let kept: Kept
    /// Whether it was the last state of the process that kept it.
    package let isLast: Bool
    /// Whether the machine has not been restarted since, so that writes without a sync were not lost.
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

  /// Locks the file of a database's state, and reads it. If the state cannot be used, a warning says why.
  ///
  /// - Parameter part: the purpose of the state.
  /// - Throws: an error message, if the folder cannot be used or another process has the file.
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

  /// The path of the state. Other files that are kept with it have the same path with another suffix.
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

  /// The state that the previous process kept; nil after `forgetFound`.
  package var found: Found? { work.withLock { $0.found } }

  package func forgetFound() { work.withLock { $0.found = nil } }

  /// Called when the owner begins, whether or not it uses the state that was found.
  package func begin() { work.withLock { $0.hasBegun = true } }

  // MARK: - Writing

  /// Has a state written soon.
  ///
  /// - Parameter done: called on the writing thread, even if the write failed. It is not called if a newer state was
  ///   written instead.
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
      // The error is logged once, because the write is tried again and again.
      let isFirst = work.withLock { work in
        defer { work.hasWarned = true }
        return !work.hasWarned
      }
      if isFirst { logger.warning("what is known of the file cannot be kept for the next start: \(error)") }
    }
  }

  /// Removes the state from the disk. No state is written afterwards, except the last one.
  package func remove() { file.remove() }

  /// Writes the last state of this process.
  package func finish(with last: Kept) {
    writing.join()
    write(last, isLast: true)
  }

  /// Releases the file to other processes. This process does not write it afterwards.
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
