package import Following
import Ground
import LiveQuery
package import Logging
package import Requests
import Store
import Synchronization

/// A thread that follows queries on a connection of its own: the second of the three domains.
///
/// Commands arrive in a mailbox; messages leave through `SubscriptionOutput`.
package final class FollowerThread: SubscriptionHost, ReportReceiver, Sendable {
  private let mailbox: Mailbox<FollowerCommand>
  /// Runs that readers have begun, for the next tick.
  private let begun = Mutex<[BegunRun]>([])
  /// Whether a tick was requested without a command.
  private let wantsTick = Atomic<Bool>(false)
  /// Commands taken from the mailbox and not performed yet, as of the last tick.
  private let taken = Atomic<Int>(0)
  /// The follower's number in the pool.
  let number: Int
  private let worker = Worker()
  var wake: WakeSignal { worker.wake }

  /// Opens the connection and starts the thread.
  ///
  /// - Throws: the error that keeps the database from being opened.
  package init(
    _ configuration: FollowerConfiguration, number: Int, output: any SubscriptionOutput, readers: ReaderPool,
    logger: Logger
  ) throws {
    self.number = number
    mailbox = Mailbox(worker.wake)
    // No other thread touches it from then on.
    nonisolated(unsafe) let follower = try Follower(
      configuration, output: output, readers: readers, logger: logger, thread: self)
    worker.start { follower.run() }
  }

  /// Has no thread: `SteppedFollower` calls its ticks.
  init() {
    number = 0
    mailbox = Mailbox(worker.wake)
  }

  /// Any thread.
  package func post(_ command: FollowerCommand) { mailbox.post(command) }

  package func post(_ report: ReaderReport) { post(.report(report)) }

  /// Requests a tick soon: a connection of this process has committed, or a session is drained. Any thread.
  package func requestTick() {
    wantsTick.store(true, ordering: .releasing)
    wake.signal()
  }

  /// The follower's thread.
  func takeWish() -> Bool { wantsTick.exchange(false, ordering: .acquiringAndReleasing) }

  /// A reader's transaction sees a state. Wakes no thread. Any thread.
  package func noteBegun(_ run: BegunRun) { begun.withLock { $0.append(run) } }

  /// The follower's thread.
  package func takeBegun(after before: [BegunRun]) -> [BegunRun] {
    begun.withLock { begun in
      if begun.isEmpty { return before }
      let all = before + begun
      begun.removeAll(keepingCapacity: true)
      return all
    }
  }

  /// Ends the thread and waits for it. Must be called once, from another thread.
  package func stop() {
    post(.stop)
    worker.join()
  }

  /// Waiting commands, approximately while a tick performs some. Any thread.
  var waitingCommands: Int { mailbox.count + taken.load(ordering: .relaxed) }

  /// The follower's thread.
  func noteTaken(_ count: Int) { if taken.load(ordering: .relaxed) != count { taken.store(count, ordering: .relaxed) } }

  /// The follower's thread.
  func takeCommands() -> [FollowerCommand] {
    worker.assertIsCurrent()
    return mailbox.isEmpty ? [] : mailbox.takeAll()
  }
}
