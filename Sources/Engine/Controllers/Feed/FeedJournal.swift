package import ChangeCapture
import Ground
package import Logging
import Store
import Synchronization

/// What the feed keeps for the next process: a state of capture, now and then, and every entry of the log as soon as it is there.
///
/// The entries are written before any reader gets them, so what readers know of is in the file, also where the process is killed. The next process
/// compares the tables with the state; rows that entries behind it tell of are compared with those entries instead. What comes of it is
/// exactly what nobody was told. After a restart of the machine the last entries may be missing, and positions begin anew.
///
/// Owner: the feed's thread; states are written on another one.
package final class FeedJournal: @unchecked Sendable {
  /// What there was at the beginning.
  struct Restored {
    let state: CaptureState
    let epoch: String
    /// The number of the entry that the state is behind, and by table the one from which on it was followed.
    let number: UInt64
    let known: [String: UInt64]
    /// The number of the file's state.
    let commit: Int64
    /// All entries, encoded.
    let entries: [[UInt8]]
  }

  private let file: StateFile
  private let logger: Logger
  /// Nil: not begun, or nothing is kept any more.
  private var log: RecordLog?
  private(set) var restored: Restored?
  private let isWriting = Atomic<Bool>(false)
  private let writing = JoinedThread()
  /// The epoch and the tables of the last state that is on the disk.
  private let kept = Mutex<(epoch: String, tables: Set<String>)>(("", []))
  private var hasWarned = false

  /// Takes the state and the log of a database.
  ///
  /// - Throws: a sentence: the folder cannot be used, or another process has them.
  package init(of database: String, part: String, in folder: String, logger: Logger) throws(StateFailure) {
    file = try StateFile(of: database, part: part, in: folder)
    self.logger = logger
    do throws(StateFailure) {
      if let found = try file.read(), found.state.isOf(path: database) {
        restored = try Self.restored(found, Self.logPath(file))
      }
    } catch { logger.warning("the changes that were kept cannot be used: \(error)") }
  }

  /// The path of the state; what else is kept has it with another suffix.
  package var path: String { file.path }

  private static func logPath(_ file: StateFile) -> String { file.path + ".log" }

  // MARK: - Reading

  private static func restored(_ found: StateFile.Found, _ logPath: String) throws(StateFailure) -> Restored? {
    let head: Mark? = found.state.payload.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      return try? Mark(&reader)
    }
    guard let head, found.isLast || head.isOfThisStart else { return nil }
    guard let records = try RecordLog.records(logPath), let first = records.first, first == Array(head.epoch.utf8)
    else {
      return nil
    }
    guard FeedPositions(epoch: head.epoch) != nil else { return nil }
    return Restored(
      state: found.state, epoch: head.epoch, number: head.number, known: head.known, commit: head.commit,
      entries: Array(records.dropFirst()))
  }

  /// The feed goes on with what there was, or cannot.
  func takeRestored() -> Restored? {
    defer { restored = nil }
    return restored
  }

  // MARK: - Writing

  /// Begins a log with entries; the one before is gone.
  func begin(epoch: String, _ entries: [LoggedCommit]) {
    let records = [Array(epoch.utf8)] + entries.map(\.encoded)
    do throws(StateFailure) { log = try RecordLog.begin(Self.logPath(file), records) } catch { fail(error) }
  }

  /// Adds entries, before any reader gets them.
  ///
  /// - Returns: whether the log has become so long that it should begin anew.
  func append(_ entries: [LoggedCommit], limit: Int) -> Bool {
    if log == nil { return false }
    do throws(StateFailure) { try log?.append(entries.map(\.encoded)) } catch { fail(error) }
    return (log?.byteCount ?? 0) > 2 * limit + (1 << 20)
  }

  /// Nothing is kept any more: a log with a gap would be worse than none.
  private func fail(_ failure: StateFailure) {
    if !hasWarned { logger.warning("changes cannot be kept for the next start: \(failure)") }
    hasWarned = true
    log = nil
    unlink(Self.logPath(file))
    file.remove()
  }

  /// What goes with a state.
  struct Mark {
    var epoch: String
    var number: UInt64
    var commit: Int64
    var known: [String: UInt64]

    /// Whether it was read, and written since the machine was started.
    fileprivate var isOfThisStart = false

    fileprivate var encoded: [UInt8] {
      var writer = ByteWriter()
      writer.add(MachineStart.name)
      writer.add(epoch)
      writer.add(number)
      writer.add(commit)
      writer.add(known)
      return writer.bytes
    }

    fileprivate init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
      isOfThisStart = try reader.text() == MachineStart.name && !MachineStart.name.isEmpty
      (epoch, number, commit) = (try reader.text(), try reader.packed(), try reader.signed())
      known = try reader.numbers()
      try reader.mustEnd()
    }

    init(epoch: String, number: UInt64, commit: Int64, known: [String: UInt64]) {
      (self.epoch, self.number, self.commit, self.known) = (epoch, number, commit, known)
    }
  }

  /// A state is being written.
  var isBusy: Bool { isWriting.load(ordering: .acquiring) }

  /// Whether the next process would know what changes from now on in these tables, or nothing is kept any more.
  func hasKept(_ epoch: String, _ tables: [String]) -> Bool {
    log == nil || kept.withLock { $0.epoch == epoch && $0.tables.isSuperset(of: tables) }
  }

  /// The state that has these tables is on the disk, or cannot be.
  func noteKept(_ epoch: String, _ known: [String: UInt64]) { kept.withLock { $0 = (epoch, Set(known.keys)) } }

  /// Has a state written on another thread, unless one is being written.
  ///
  /// - Parameter done: called on that thread.
  func keep(_ state: CaptureState, _ mark: Mark, done: @escaping @Sendable () -> Void) {
    if log == nil || isWriting.exchange(true, ordering: .acquiringAndReleasing) { return }
    var state = state
    state.payload = mark.encoded
    writing.start { [self, state] in
      do throws(StateFailure) { try file.write(state) } catch { logger.warning("\(error)") }
      // Also where it could not be written: readers do not wait for a full disk.
      noteKept(mark.epoch, mark.known)
      isWriting.store(false, ordering: .releasing)
      done()
    }
  }

  /// Writes the last state.
  func finish(_ state: CaptureState, _ mark: Mark) {
    writing.join()
    if log == nil { return }
    var state = state
    state.payload = mark.encoded
    do throws(StateFailure) { try file.write(state, isLast: true) } catch { logger.warning("\(error)") }
  }

  /// The number of the last state that readers were told of; nil: none was kept.
  var lastCommit: Int64? {
    restored.map { restored in
      max(restored.commit, restored.entries.last.flatMap { LoggedCommit.commit(of: $0) } ?? restored.commit)
    }
  }

  /// Lets another process have the files. To be called once, at the end.
  ///
  /// - Parameter isUntouched: nothing came of what there was.
  func release(isUntouched: Bool) {
    writing.join()
    if isUntouched { file.putBack() }
    file.release()
  }
}
