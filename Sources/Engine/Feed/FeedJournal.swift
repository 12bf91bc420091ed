package import ChangeCapture
import Following
import Ground
package import Logging
import Synchronization

/// Keeps the feed's state for the next process: a state of capture now and then, and every entry of the log
/// immediately. Entries are written before any reader gets them, so the file has everything that readers know, even if
/// the process is killed. The next process compares the tables with the kept state, and rows of later entries with
/// these entries. The differences are exactly the changes that were never sent. After a restart of the machine the last
/// entries may be missing, and positions begin anew. Owner: the feed's thread; another thread writes states.
package final class FeedJournal: @unchecked Sendable {
  typealias State = Journal<Mark>.Kept

  /// Data that is stored with a state.
  struct Mark: KeptWithState {
    var epoch: String
    /// The number of the last entry before the state, and for each table the number of the entry since which it was
    /// followed.
    var number: UInt64
    var known: [String: UInt64]
    /// The number of the file's state.
    var commit: Int64
  }

  /// The contents of the files at the start.
  struct Restored {
    let state: CaptureState
    let mark: Mark
    /// All entries, encoded.
    let entries: [[UInt8]]
  }

  private let states: Journal<Mark>
  private let logger: Logger
  /// The log; nil if it was not begun, or if nothing is kept any more.
  private var log: RecordLog?
  private(set) var restored: Restored?
  /// The epoch and the tables of the last state that is on the disk.
  private let kept = Mutex<(epoch: String, tables: Set<String>)>(("", []))
  private var hasWarned = false

  /// Locks the files of a database's state and log, and reads them.
  ///
  /// - Throws: an error message, if the folder cannot be used or another process has the files.
  package init(of database: String, part: String, in folder: String, logger: Logger) throws(StateFailure) {
    states = try Journal(of: database, part: part, in: folder, logger: logger)
    self.logger = logger
    do throws(StateFailure) { restored = try found() } catch {
      logger.warning("the changes that were kept cannot be used: \(error)")
    }
    states.forgetFound()
  }

  /// The path of the state. Other files that are kept have the same path with another suffix.
  package var path: String { states.path }

  private var logPath: String { path + ".log" }

  private func found() throws(StateFailure) -> Restored? {
    guard let found = states.found, found.isLast || found.isOfThisStart else { return nil }
    let (state, mark) = (found.kept.state, found.kept.memory)
    guard let records = try RecordLog.records(logPath), records.first == Array(mark.epoch.utf8),
      FeedPositions(epoch: mark.epoch) != nil
    else { return nil }
    return Restored(state: state, mark: mark, entries: Array(records.dropFirst()))
  }

  /// Returns what was restored, once, and frees it here.
  func takeRestored() -> Restored? { restored.take() }

  // MARK: - Writing

  /// Begins a log with entries, and replaces the former one.
  func begin(epoch: String, _ entries: [LoggedCommit]) {
    states.begin()
    let records = [Array(epoch.utf8)] + entries.map(\.encoded)
    do throws(StateFailure) { log = try RecordLog.begin(logPath, records) } catch { fail(error) }
  }

  /// Adds entries, before any reader gets them.
  ///
  /// - Returns: whether the log has become so long that it should begin anew.
  func append(_ entries: [LoggedCommit], limit: Int) -> Bool {
    if log == nil { return false }
    do throws(StateFailure) { try log?.append(entries.map(\.encoded)) } catch { fail(error) }
    return (log?.byteCount ?? 0) > 2 * limit + (1 << 20)
  }

  /// Stops keeping entries, because a log with a gap would be worse than no log.
  private func fail(_ failure: StateFailure) {
    if !hasWarned { logger.warning("changes cannot be kept for the next start: \(failure)") }
    hasWarned = true
    log = nil
    unlink(logPath)
    states.remove()
  }

  /// Whether the next process would find all changes from now on in these tables. Also true if nothing is kept any
  /// more.
  func hasKept(_ epoch: String, _ tables: [String]) -> Bool {
    if log == nil { return true }
    return kept.withLock { $0.epoch == epoch && $0.tables.isSuperset(of: tables) }
  }

  /// Called when the state with these tables is on the disk, or cannot be written.
  func noteKept(_ epoch: String, _ known: [String: UInt64]) { kept.withLock { $0 = (epoch, Set(known.keys)) } }

  /// Has a state written on another thread.
  ///
  /// - Parameter done: called on the thread that writes.
  func keep(_ state: State, done: @escaping @Sendable () -> Void) {
    if log == nil { return }
    states.keep(state) { [self] in
      // This is noted even if the state could not be written, because readers do not wait for a full disk.
      noteKept(state.memory.epoch, state.memory.known)
      done()
    }
  }

  /// Writes the last state.
  func finish(with state: State) { if log != nil { states.finish(with: state) } }

  /// The highest number of a state that readers got; nil if no state was kept.
  package var lastCommit: Int64? {
    restored.map { restored in
      max(restored.mark.commit, restored.entries.last.flatMap { LoggedCommit.commit(of: $0) } ?? restored.mark.commit)
    }
  }

  /// Releases the files to other processes. To be called once, at the end.
  func release() { states.release() }
}

extension FeedJournal.Mark {
  init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    (epoch, number, known) = (try reader.text(), try reader.packed(), try reader.numbers())
    commit = try reader.signed()
  }

  func add(to writer: inout ByteWriter) {
    writer.add(epoch)
    writer.add(number)
    writer.add(known)
    writer.add(commit)
  }
}
