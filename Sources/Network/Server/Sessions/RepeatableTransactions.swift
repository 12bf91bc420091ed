import Store
import Synchronization

/// Runs each transaction that its client has named (`once`) a single time, however often it is asked for.
///
/// Any thread.
final class RepeatableTransactions: Sendable {
  private let memory: Mutex<TransactionMemory>
  private let clock: MonotonicClock

  /// Called before what came of a transaction is remembered for its client.
  private let promise: @Sendable () -> Void

  /// - Parameters:
  ///   - limit: of the bytes of what is remembered.
  ///   - kept: what the process before knew.
  init(limit: Int, clock: MonotonicClock, kept: [UInt8] = [], promise: @escaping @Sendable () -> Void = {}) {
    memory = Mutex(
      TransactionMemory(limit: limit, kept: kept, at: clock.now) ?? TransactionMemory(limit: limit))
    self.clock = clock
    self.promise = promise
  }

  /// What the next process has to know; nil while transactions run.
  var kept: [UInt8]? { memory.withLock { $0.kept } }

  /// Answers a transaction: with what came of it before, or by running it.
  ///
  /// - Parameter key: nil: it is run whatever was before.
  /// - Parameter reply: called once, here or wherever `run` ends.
  /// - Parameter run: called at once or not at all; it calls what it is given once.
  func answer(
    _ key: TransactionMemory.Key?, reply: @escaping TransactionMemory.Reply,
    run: (@escaping TransactionMemory.Reply) -> Void
  ) {
    guard let key else { return run(reply) }
    switch memory.withLock({ $0.admit(key, reply) }) {
    case .run:
      promise()
      run { [self] outcome in
        let waiting = memory.withLock { $0.finished(key, outcome, at: clock.now) }
        reply(outcome)
        for reply in waiting { reply(outcome) }
      }
    case .wait: break
    case .known(let outcome): reply(outcome)
    }
  }

  /// The file is another one.
  func forget() { memory.withLock { $0.forget() } }
}
