import Controllers
import Dispatch
import Following
import Ground
import LiveQuery
import Requests
import Store
import Synchronization

/// The third domain: one connection that writes for clients, one transaction after the other, in steps that workers
/// take.
///
/// A transaction is answered once a follower has seen it, with the follower's number of the new state: patches carry
/// the same numbers.
// @unchecked: `holder`, `commands`, `lastUse` and `isEnding` are of the thread that steps it, after init.
final class TransactionQueue: ClientTransactions, Stepped, @unchecked Sendable {
  private enum Command: Sendable {
    case run(Transaction, AuditLog.Write, ControllerPool, TransactionMemory.Reply)
    case refuse(AuditLog.Write, FreshetError, TransactionMemory.Reply)
    /// Everything before is done.
    case signal(DispatchSemaphore)
    case stop
  }

  /// Shared by the writers of all files. A writer may wait for its file's lock as long as a transaction may take, so it
  /// must not use the followers' workers.
  private static let workers = Workers(threads: 16)
  private let item = WorkItem(TransactionQueue.workers)
  private let mailbox: Mailbox<Command>
  private let settings: WriterSettings
  /// Nil: no audit log.
  private let audit: AuditLog?
  private let holder: FileHolder<Writer, FreshetError>
  /// Interrupts the holder's writer. Any thread.
  private let interruption = Mutex<Writer.Interruption?>(nil)
  private let repeatable: RepeatableTransactions
  /// Transactions asked for and not answered yet. Entered while `isClosed` is false.
  private let open = DispatchGroup()
  /// Whether the server stops: no further transaction begins.
  private let isClosed = Mutex(false)
  private let committed = Atomic<Int>(0)
  private let failed = Atomic<Int>(0)
  private let waiting = Atomic<Int>(0)
  /// Commands taken from the mailbox. Those from `next` on are not performed yet.
  private var commands: [Command] = []
  private var next = 0
  private var isEnding = false
  /// When it last ran a transaction.
  private var lastUse = MonotonicClock.system.now
  /// How long the connection stays open after a transaction. While it is open, its locks keep other programs from
  /// exclusive access to the file.
  private static let restTime = Nanoseconds.milliseconds(2_000)

  var counts: (committed: Int, failed: Int, waiting: Int) {
    (committed.load(ordering: .relaxed), failed.load(ordering: .relaxed), waiting.load(ordering: .relaxed))
  }

  var kept: [UInt8]? { repeatable.kept }

  /// - Parameters:
  ///   - kept: what keeps outcomes for the next process; nil: nothing does.
  ///   - epochs: the epochs of the file, to which outcomes belong.
  ///   - users: everything in the process that has the file open.
  init(
    _ settings: WriterSettings, _ audit: AuditLog?, _ kept: KeptTransactions?, _ epochs: FileEpochs,
    _ users: FileUsers
  ) throws(FreshetError) {
    self.settings = settings
    self.audit = audit
    mailbox = Mailbox(item)
    repeatable = RepeatableTransactions(
      limit: settings.memory, clock: settings.clock, kept: kept?.keeper.promises ?? [],
      journal: kept?.journal, epoch: { epochs.current.name }, promise: { kept?.keeper.promise() })
    holder = FileHolder(path: settings.database, users: users, thread: item) { () throws(FreshetError) in
      try Writer(path: settings.database, timeout: settings.timeout)
    }
    if holder.finding != .missing { _ = try currentWriter() }
    item.start(self)
  }

  // MARK: - Steps

  /// Performs one command, so that other files' writers have their turn between two.
  func step() -> Rest {
    item.assertIsCurrent()
    if next == commands.count { (commands, next) = (mailbox.takeAll(), 0) }
    if next < commands.count {
      next += 1
      perform(commands[next - 1])
    }
    if holder.mustLetGo, let writer = holder.connection { giveUp(writer) }
    if isEnding {
      holder.close()
      return .ended
    }
    return .pause(next < commands.count || !mailbox.isEmpty ? .zero : rest())
  }

  private func perform(_ command: Command) {
    switch command {
    case .run(let transaction, let write, let pool, let reply):
      waiting.subtract(1, ordering: .relaxed)
      run(transaction, as: write, seenBy: pool, reply: reply)
    case .refuse(let write, let error, let reply):
      audit?.refused(write, error.code)
      reply(.failure(error))
      open.leave()
    case .signal(let done): done.signal()
    case .stop: isEnding = true
    }
  }

  /// Closes the connection once it has not been used for a while.
  ///
  /// - Returns: for how long that has to wait.
  private func rest() -> Nanoseconds {
    guard holder.connection != nil else { return .max }
    let left = lastUse + Self.restTime - MonotonicClock.system.now
    if left > .zero { return left }
    holder.close()
    return .max
  }

  /// A connection to the files that have the names now, in which a transaction has begun.
  private func begin() throws(FreshetError) -> Writer {
    lastUse = MonotonicClock.system.now
    for _ in 0..<2 {
      let writer = try currentWriter()
      if try writer.begin() { return writer }
      giveUp(writer)
    }
    throw FreshetError(.overloaded, "the database's files were deleted or overwritten: try again")
  }

  /// A connection to the file that has the name now. It is opened again if the last one is of no use any more.
  private func currentWriter() throws(FreshetError) -> Writer {
    if let writer = holder.connection {
      if writer.files.state != .same {
        giveUp(writer)
      } else if holder.finding == .same, !writer.isDoubtful {
        return writer
      }
    }
    holder.close()
    // Followers let go of deleted files as soon as they notice.
    guard holder.waitForFiles() else {
      throw FreshetError(.overloaded, "the database's files were deleted or overwritten, and are still in use")
    }
    let opened = try holder.open()
    holder.adopt(opened)
    interruption.withLock { $0 = opened.interruption }
    return opened
  }

  /// Called when the -wal or -shm was deleted, or the file overwritten: saves the committed data if possible, and
  /// closes the files.
  private func giveUp(_ writer: Writer) {
    writer.rescue()
    holder.close()
  }

  /// Called when the file was replaced: outcomes of the former epoch are invalid.
  func epochChanged() { repeatable.forget() }

  /// Runs a transaction after those asked for before it, or answers with its earlier outcome.
  ///
  /// - Parameter write: its client and its name.
  /// - Parameter key: its client, and the client's name for it; nil: it always runs.
  /// - Parameter pool: whose followers number the state that it leads to.
  /// - Parameter reply: called once: on the thread that steps it or a follower's, or at once.
  func transact(
    _ transaction: Transaction, as write: AuditLog.Write, once key: TransactionMemory.Key?,
    seenBy pool: ControllerPool, reply: @escaping TransactionMemory.Reply
  ) {
    repeatable.answer(key, reply: reply) { reply in
      guard enter() else { return reply(.failure(Self.stopping)) }
      waiting.add(1, ordering: .relaxed)
      mailbox.post(.run(transaction, write, pool, reply))
    }
  }

  private func run(
    _ transaction: Transaction, as write: AuditLog.Write, seenBy pool: ControllerPool,
    reply: @escaping TransactionMemory.Reply
  ) {
    do throws(FreshetError) {
      let (results, audited) = try run(transaction, as: write)
      committed.add(1, ordering: .relaxed)
      pool.requestTick()
      pool.first.post(
        .commit { [open, audit] commit in
          if let audited, let commit { audit?.numbered(audited, commit) }
          reply(commit.map { .success(CommittedTransaction(results, commit: $0)) } ?? .failure(Self.unnumbered))
          open.leave()
        })
    } catch {
      failed.add(1, ordering: .relaxed)
      reply(.failure(error))
      open.leave()
    }
  }

  /// Runs a transaction between the two lines of the audit log.
  private func run(
    _ transaction: Transaction, as write: AuditLog.Write
  ) throws(FreshetError) -> (results: [StatementResult], audited: AuditLog.Begun?) {
    guard let audit else { return (try begin().transact(transaction), nil) }
    let begun = try audit.begin(write)
    let start = settings.clock.now
    do throws(FreshetError) {
      let results = try begin().transact(transaction)
      let changes = results.reduce(0) { $0 + $1.changes }
      audit.committed(begun, changes: changes, settings.clock.now - start)
      return (results, begun)
    } catch {
      audit.failed(begun, error.code, settings.clock.now - start)
      throw error
    }
  }

  /// Records that a client's write was refused before it began.
  ///
  /// - Parameter key: as of `transact`.
  /// - Parameter reply: called once that is in the audit log, or cannot be: on the thread that steps it; at once where
  ///   there is no such log. It gets the error, or what came of the same transaction before.
  func refuse(
    _ write: AuditLog.Write, _ error: FreshetError, once key: TransactionMemory.Key?,
    reply: @escaping TransactionMemory.Reply
  ) {
    repeatable.answer(key, reply: reply) { reply in
      guard audit != nil, enter() else { return reply(.failure(error)) }
      mailbox.post(.refuse(write, error, reply))
    }
  }

  /// Whether the system lets this process write to the file, and to its folder, which contains the -wal. Any thread;
  /// asks the disk.
  var isWritable: Bool {
    let folder = settings.database.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let path = folder.isEmpty ? "." : folder.joined(separator: "/") + "/"
    return access(settings.database, W_OK) == 0 && access(path, W_OK) == 0
  }

  private static let stopping = FreshetError(.shuttingDown, "the server is stopping: nothing was written")
  private static let unnumbered = FreshetError(
    .internal, "the transaction is committed; but the database cannot be read since, so its commit is not known")

  /// - Returns: false if no transaction may begin any more.
  private func enter() -> Bool {
    isClosed.withLock { isClosed in
      if !isClosed { open.enter() }
      return !isClosed
    }
  }

  /// Begins nothing else, and waits until everything asked for so far is done and answered. Transactions that take
  /// longer than `transactionGrace` are given up, as are answers that take as long again because the database cannot be
  /// read. Called at the end; later callers wait as well.
  func drain(grace: Duration) {
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    if wasClosed { return item.join() }
    let done = DispatchSemaphore(value: 0)
    mailbox.post(.signal(done))
    var wait = settings.grace
    while done.wait(timeout: .now() + wait) == .timedOut {
      interruption.withLock { $0?.interrupt() }
      // The next transaction needs an interruption of its own.
      wait = .milliseconds(50)
    }
    _ = open.wait(timeout: .now() + max(grace, settings.grace))
    mailbox.post(.stop)
    item.join()
  }
}

extension DispatchTime {
  static func + (time: DispatchTime, duration: Duration) -> DispatchTime {
    time + DispatchTimeInterval.nanoseconds(Int(clamping: Nanoseconds(duration).count))
  }
}

extension ControllerPool {
  /// The follower for questions about no query in particular.
  var first: FollowerThread { follower(for: Query(from: "")) }
}
