import Ground
import Store
import Synchronization

/// Runs each transaction that its client has named (`once`) a single time, however often it is asked for.
///
/// Any thread.
final class RepeatableTransactions: Sendable {
  private let memory: Mutex<TransactionMemory>
  private let clock: MonotonicClock

  /// Keeps outcomes for the next process if this one is killed; nil: they are not kept.
  private let journal: TransactionJournal?
  /// The epoch of the outcomes.
  private let epoch: @Sendable () -> String
  private let limit: Int
  /// Called before a named transaction runs, unless the journal has noted its name.
  private let promise: @Sendable () -> Void

  /// - Parameters:
  ///   - limit: of the remembered bytes.
  ///   - kept: the state that the previous process kept at its orderly end.
  init(
    limit: Int, clock: MonotonicClock, kept: [UInt8] = [], journal: TransactionJournal? = nil,
    epoch: @escaping @Sendable () -> String = { "" }, promise: @escaping @Sendable () -> Void = {}
  ) {
    var known = TransactionMemory(limit: limit, kept: kept, at: clock.now) ?? TransactionMemory(limit: limit)
    for (key, outcome) in journal?.outcomes(of: epoch()) ?? [] { known.add(key, outcome, at: clock.now) }
    memory = Mutex(known)
    self.clock = clock
    self.limit = limit
    self.journal = journal
    self.epoch = epoch
    self.promise = promise
  }

  /// State for the next process; nil while transactions run.
  var kept: [UInt8]? { memory.withLock { $0.kept } }

  /// Answers a transaction with its earlier outcome, or runs it.
  ///
  /// - Parameter key: nil: it always runs.
  /// - Parameter reply: called once, here or wherever `run` ends.
  /// - Parameter run: called at once or not at all; it calls what it is given once.
  func answer(
    _ key: TransactionMemory.Key?, reply: @escaping TransactionMemory.Reply,
    run: (@escaping TransactionMemory.Reply) -> Void
  ) {
    guard let key else { return run(reply) }
    switch admit(key, reply) {
    case .run:
      if journal?.note(key) != true { promise() }
      run { [self] outcome in
        let waiting = finished(key, outcome)
        reply(outcome)
        for reply in waiting { reply(outcome) }
      }
    case .wait: break
    case .known(let outcome): reply(outcome)
    }
  }

  private func admit(
    _ key: TransactionMemory.Key, _ reply: @escaping TransactionMemory.Reply
  ) -> TransactionMemory.Admission {
    memory.withLock { memory in
      if let journal, journal.isUntouched { journal.begin(epoch(), memory.outcomes) }
      return memory.admit(key, reply)
    }
  }

  private func finished(
    _ key: TransactionMemory.Key, _ outcome: TransactionMemory.Outcome
  ) -> [TransactionMemory.Reply] {
    memory.withLock { memory in
      let waiting = memory.finished(key, outcome, at: clock.now)
      if let journal {
        journal.note(key, memory.outcome(of: key))
        if journal.byteCount > 4 * limit + (1 << 20) { journal.begin(epoch(), memory.outcomes) }
      }
      return waiting
    }
  }

  /// Forgets outcomes, because the file was replaced.
  func forget() {
    memory.withLock { memory in
      memory.forget()
      journal?.begin(epoch(), [])
    }
  }
}
