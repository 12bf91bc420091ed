package import LiveQuery
package import Logging
package import Store
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a follower works on, and within which bounds.
package struct FollowerConfiguration: Sendable {
  /// The database file.
  package var path: String
  /// How long a query without subscribers is still followed.
  package var linger = Duration.seconds(60)
  /// The longest that a query may run.
  package var queryTimeout = Duration.seconds(30)
  /// The most rows that a result may have.
  package var rowLimit = 10_000_000
  /// The most bytes that a result's keys may take, and its contents where they are kept.
  package var resultBytes = 1 << 30
  /// About how long one message with rows gets, in bytes.
  package var chunkBytes = 64 << 10
  /// A patch estimated to be larger than this, and than a snapshot, is not sent: the snapshot is.
  package var patchBytes = 64 << 10
  /// Requests that a subscription may have waiting while a snapshot is on its way to it.
  package var deferredRequests = 32
  /// The least time between two runs of a query that has to be run again whenever something changed.
  package var refetchInterval = Duration.milliseconds(100)
  /// How long a query waits that could not be read, before it is tried again.
  package var retryInterval = Duration.seconds(1)
  /// How long a version that a client was sent is held at least, for `since`.
  package var historyAge = Duration.seconds(60)
  /// How many such versions of a query are held at least.
  package var historyCount = 1_000
  /// The memory that all of them may take together, those of all followers of a pool, in bytes: beyond it they are let go sooner.
  package var historyBytes = 128 << 20
  /// What may be remembered of all followed tables to find changed rows, in bytes.
  package var captureBytes = 256 << 20
  /// What roles may read, where clients have any.
  package var access = AccessRules()
  /// What their queries may take, by role.
  package var queryLimits: [String: QueryLimits] = [:]
  package var clock = MonotonicClock.system
  /// Whether lists are compared with fresh runs of their queries.
  package var selfCheck = SelfCheckMode.off
  /// Runs of queries that take at least so long are logged and counted; zero: none.
  package var slowQuery = Duration.seconds(1)
  /// Of published queries.
  package var queryNames: [Fingerprint: String] = [:]

  /// Whether the file is a replica's: numbers and epochs are those that it has with its rows (`ReplicaPosition`).
  package var readsPosition = false
  /// Whether other servers have the same epochs, so that clients come with versions that those have named.
  package var sharesEpochs = false
  /// The number of the first state that is seen: where to go on after a restart.
  package var firstCommit: Int64 = 0

  package init(path: String) { self.path = path }
}

/// A thread that follows queries on a connection of its own: the second of the three domains.
///
/// Commands go in through a mailbox; what comes out goes to the `SubscriptionOutput`.
// @unchecked: `mailbox` is guarded by its mutex, `wake` is atomic, `thread` is written once before anybody else can see it
// and read by `stop` alone; all else belongs to the thread.
package final class FollowerThread: @unchecked Sendable {
  private let mailbox = Mutex<[FollowerCommand]>([])
  /// Readers have begun runs: the next tick takes that in.
  private let begun = Mutex<[BegunRun]>([])
  /// A tick is wanted, for no command's sake.
  private let wantsTick = Atomic<Bool>(false)
  /// Commands taken out of the mailbox that are not performed yet, as of the last tick.
  private let taken = Atomic<Int>(0)
  /// In the pool.
  let number: Int
  let wake = WakeSignal()
  private var thread = pthread_t()

  /// Opens the connection and starts the thread.
  ///
  /// - Throws: what keeps the database from being opened.
  package init(
    _ configuration: FollowerConfiguration, number: Int, output: any SubscriptionOutput, readers: ReaderPool,
    numbers: CommitNumbers, epochs: FileEpochs = FileEpochs(), logger: Logger
  ) throws {
    self.number = number
    let follower = try Follower(
      configuration, output: output, readers: readers, numbers: numbers, epochs: epochs, logger: logger, thread: self)
    let start = Start(follower: follower)
    thread = startThread { start.follower.run() }
  }

  /// Without a thread: `SteppedFollower` has it tick.
  init() { number = 0 }

  /// Any thread.
  package func post(_ command: FollowerCommand) {
    mailbox.withLock { $0.append(command) }
    wake.signal()
  }

  /// Has the follower take a tick soon: a connection of this process has committed, or a session has taken what was sent. Any
  /// thread.
  package func requestTick() {
    wantsTick.store(true, ordering: .releasing)
    wake.signal()
  }

  /// The follower's thread.
  func takeWish() -> Bool { wantsTick.exchange(false, ordering: .acquiringAndReleasing) }

  /// A reader's transaction sees a state. Nobody is woken for that. Any thread.
  func noteBegun(_ run: BegunRun) { begun.withLock { $0.append(run) } }

  /// The follower's thread.
  func takeBegun(after before: [BegunRun]) -> [BegunRun] {
    begun.withLock { begun in
      if begun.isEmpty { return before }
      let all = before + begun
      begun.removeAll(keepingCapacity: true)
      return all
    }
  }

  /// Ends the thread and waits for it. To be called once, from another thread.
  package func stop() {
    post(.stop)
    pthread_join(thread, nil)
  }

  /// Commands that wait, give or take those of the tick that goes on. Any thread.
  var waitingCommands: Int { mailbox.withLock { $0.count } + taken.load(ordering: .relaxed) }

  /// The follower's thread.
  func noteTaken(_ count: Int) { if taken.load(ordering: .relaxed) != count { taken.store(count, ordering: .relaxed) } }

  /// The follower's thread.
  func takeCommands() -> [FollowerCommand] {
    mailbox.withLock { commands in
      if commands.isEmpty { return [] }
      let taken = commands
      commands.removeAll(keepingCapacity: true)
      return taken
    }
  }
}

/// Carries the follower to its thread.
// @unchecked: nobody else touches it from then on.
private struct Start: @unchecked Sendable {
  let follower: Follower
}
