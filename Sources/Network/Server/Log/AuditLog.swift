import Ground
import LiveQuery
import Logging
import Store
import Synchronization
import Wire

/// One line for the beginning and one for the end of each transaction, and of the making and removing of databases,
/// with its client and outcome, without SQL and values.
///
/// A line that says `begin` is on the disk before the transaction begins: without it there is no transaction. The line
/// that says `end` is never dropped: while the disk is full it waits, and no other transaction begins. After a `begin`
/// without an `end`, the log does not say whether the transaction was committed, because the process ended in between.
///
/// Any thread, where nothing else is said.
final class AuditLog: Sendable {
  /// A client's write.
  struct Write: Sendable {
    var actor: LogActor
    /// Nil if it has no published name.
    var subject: LogSubject?
  }

  /// A transaction whose first line is on the disk.
  struct Begun: Sendable {
    fileprivate let number: Int
    fileprivate let write: Write
  }

  private struct Commit: Sendable {
    let begun: Begun
    let changes: Int
    let duration: Nanoseconds
  }

  private let queue: LogQueue
  /// How long a transaction waits for its first line.
  private let patience: Duration
  private let lastNumber = Atomic<Int>(0)
  /// Prefix of this process's numbers, which makes them unique over several runs.
  private let prefix = String(UInt64.random(in: 0...UInt64.max), radix: 36)
  /// Committed transactions whose state has no number yet.
  private let commits = Mutex<[Int: Commit]>([:])

  /// - Throws: one sentence for the operator.
  init(_ destination: LogDestination, patience: Duration, logger: Logger) throws(ServerError) {
    self.patience = patience
    // Every line appended here must be kept.
    queue = try LogQueue("audit log", destination, limit: 0, logger: logger)
  }

  func start() { queue.start() }
  func reopen() { queue.reopen() }

  /// Stops writing.
  func stop(grace: Duration) {
    // No follower will number these commits any more.
    for commit in commits.withLock({ $0.values.map(\.begun) }) { numbered(commit, nil) }
    queue.stop(grace: grace)
  }

  /// Waits for the disk: on the writer's queue.
  ///
  /// - Throws: `overloaded` when the log cannot be written: then nothing may be.
  func begin(_ write: Write) throws(FreshetError) -> Begun {
    let begun = Begun(number: lastNumber.add(1, ordering: .relaxed).newValue, write: write)
    let outcome = queue.write(line("begin", begun) { _ in }, within: patience)
    if outcome == .written { return begun }
    let error = FreshetError(.overloaded, "the audit log cannot be written: nothing was changed")
    // The `begin` line may be in the file, so it gets its `end`.
    if outcome == .uncertain { failed(begun, error.code, .zero) }
    throw error
  }

  /// The transaction was not written; `internal`: it may have been.
  func failed(_ begun: Begun, _ code: ErrorCode, _ duration: Nanoseconds) {
    queue.keep(
      line("end", begun) { line in
        line.member("outcome", code.rawValue)
        line.milliseconds(duration)
      })
  }

  /// - Parameter changes: the number of changed rows.
  func committed(_ begun: Begun, changes: Int, _ duration: Nanoseconds) {
    let commit = Commit(begun: begun, changes: changes, duration: duration)
    commits.withLock { $0[begun.number] = commit }
  }

  /// Logs the end of an action that is not a transaction.
  func done(_ begun: Begun, _ duration: Nanoseconds) {
    queue.keep(
      line("end", begun) { line in
        line.member("outcome", "done")
        line.milliseconds(duration)
      })
  }

  /// Writes the end of a transaction when a follower has numbered its state; nil: no follower will.
  func numbered(_ begun: Begun, _ number: Int64?) {
    guard let commit = commits.withLock({ $0.removeValue(forKey: begun.number) }) else { return }
    queue.keep(
      line("end", begun) { line in
        line.member("outcome", "committed")
        line.member("changes", commit.changes)
        if let number { line.member("commit", Int(clamping: number)) }
        line.milliseconds(commit.duration)
      })
  }

  /// Logs that a write was refused before it began. Waits for the disk: on the writer's queue.
  func refused(_ write: Write, _ code: ErrorCode) {
    let line = LogLine.make("refused") { line in
      line.members(of: write.actor)
      line.member(write.subject)
      line.member("outcome", code.rawValue)
    }
    _ = queue.write(line, within: patience)
  }

  private func line(_ event: String, _ begun: Begun, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
    LogLine.make(event) { line in
      line.member("id", "\(prefix)-\(begun.number)")
      line.members(of: begun.write.actor)
      line.member(begun.write.subject)
      members(&line)
    }
  }
}
