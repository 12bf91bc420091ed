package import Following
package import Ground
import LiveQuery
package import Logging
package import Requests
import Store
import Synchronization

/// Follows queries on a connection of its own, in steps that workers take. This is the second of the three domains.
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
  private let item: WorkItem
  var wake: any Wakeable { item }

  /// Opens the connection and has the workers step the follower.
  ///
  /// - Throws: the error if the database cannot be opened.
  package init(
    _ configuration: FollowerConfiguration, number: Int, output: any SubscriptionOutput, readers: ReaderPool,
    workers: Workers = .shared, logger: Logger
  ) throws {
    self.number = number
    item = WorkItem(workers)
    mailbox = Mailbox(item)
    let follower = try Follower(
      configuration, output: output, readers: readers, logger: logger, thread: self)
    // The shared workers also read the events of files.
    Workers.shared.start()
    item.start(follower)
  }

  /// Creates a thread object without workers, whose ticks `SteppedFollower` calls.
  init() {
    number = 0
    item = WorkItem(nil)
    mailbox = Mailbox(item)
  }

  /// Any thread.
  package func post(_ command: FollowerCommand) { mailbox.post(command) }

  package func post(_ report: ReaderReport) { post(.report(report)) }

  /// Requests a tick soon, because a connection of this process has committed or a session is drained. Any thread.
  package func requestTick() {
    wantsTick.store(true, ordering: .releasing)
    item.signal()
  }

  /// Whether a tick was requested. To be called on the thread that steps the follower.
  func takeWish() -> Bool { wantsTick.exchange(false, ordering: .acquiringAndReleasing) }

  /// Called when a reader's transaction sees a state. Wakes no thread. Any thread.
  package func noteBegun(_ run: BegunRun) { begun.withLock { $0.append(run) } }

  /// To be called on the thread that steps the follower.
  package func takeBegun(after before: [BegunRun]) -> [BegunRun] {
    begun.withLock { begun in
      if begun.isEmpty { return before }
      let all = before + begun
      begun.removeAll(keepingCapacity: true)
      return all
    }
  }

  /// Ends the follower and waits until its connection is closed. Must be called once, and not from a worker.
  package func stop() {
    post(.stop)
    item.join()
  }

  /// The number of waiting commands. It is approximate while a tick performs some. Any thread.
  var waitingCommands: Int { mailbox.count + taken.load(ordering: .relaxed) }

  /// Sets the number of commands that were taken but not performed. To be called on the thread that steps the follower.
  func noteTaken(_ count: Int) { if taken.load(ordering: .relaxed) != count { taken.store(count, ordering: .relaxed) } }

  /// Takes all commands. To be called on the thread that steps the follower.
  func takeCommands() -> [FollowerCommand] {
    item.assertIsCurrent()
    return mailbox.isEmpty ? [] : mailbox.takeAll()
  }
}
