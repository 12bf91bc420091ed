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

/// What a follower works on, and its limits.
package struct FollowerConfiguration: Sendable {
  /// The database file.
  package var path: String
  /// How long a query without subscribers is still followed.
  package var linger = Duration.seconds(60)
  /// The longest that a query may run.
  package var queryTimeout = Duration.seconds(30)
  /// The most rows that a result may have.
  package var rowLimit = 10_000_000
  /// The most bytes of a result's keys, and of its contents if they are kept.
  package var resultBytes = 1 << 30
  /// The approximate size of one message with rows, in bytes.
  package var chunkBytes = 64 << 10
  /// A patch estimated to be larger than this and than a snapshot is replaced by the snapshot.
  package var patchBytes = 64 << 10
  /// Requests that may wait while a subscription gets a snapshot.
  package var deferredRequests = 32
  /// The least time between two runs of a query that cannot be followed incrementally.
  package var refetchInterval = Duration.milliseconds(100)
  /// How long to wait before retrying a query that could not be read.
  package var retryInterval = Duration.seconds(1)
  /// The least time for which a version that a client was sent is held for `since`.
  package var historyAge = Duration.seconds(60)
  /// The least number of such versions that are held for each query.
  package var historyCount = 1_000
  /// The most bytes of such versions, for all followers of a pool: beyond it they are released sooner.
  package var historyBytes = 128 << 20
  /// The most bytes that capture may remember of all followed tables.
  package var captureBytes = 256 << 20
  /// The most bytes of changed rows that the feed remembers.
  package var changeBytes = 64 << 20
  /// What the feed keeps for the next process; nil: nothing.
  package var journal: FeedJournal?
  /// What roles may read.
  package var access = AccessRules()
  /// Limits of queries, by role.
  package var queryLimits: [String: QueryLimits] = [:]
  package var clock = MonotonicClock.system
  /// Whether to compare lists with fresh runs of their queries.
  package var selfCheck = SelfCheckMode.off
  /// Runs of queries that take at least this long are logged and counted; zero: none.
  package var slowQuery = Duration.seconds(1)
  /// Names of published queries.
  package var queryNames: [Fingerprint: String] = [:]

  /// Whether the file is a replica's, whose rows include its commit numbers and epochs (`ReplicaPosition`).
  package var readsPosition = false
  /// Whether other servers share the epochs, so that clients bring versions that those servers named.
  package var sharesEpochs = false
  /// The number of the first state: where to continue after a restart.
  package var firstCommit: Int64 = 0
  /// Keeps what followers know for the next process; nil: nothing is kept.
  package var keeper: StateKeeper?

  package init(path: String) { self.path = path }
}

/// A thread that follows queries on a connection of its own: the second of the three domains.
///
/// Commands arrive in a mailbox; messages leave through `SubscriptionOutput`.
// @unchecked: `mailbox` is guarded by its mutex, `wake` is atomic, `thread` is written once before any other thread can
// see it and read by `stop` only; the rest belongs to the thread.
package final class FollowerThread: @unchecked Sendable {
  private let mailbox = Mutex<[FollowerCommand]>([])
  /// Runs that readers have begun, for the next tick.
  private let begun = Mutex<[BegunRun]>([])
  /// Whether a tick was requested without a command.
  private let wantsTick = Atomic<Bool>(false)
  /// Commands taken from the mailbox and not performed yet, as of the last tick.
  private let taken = Atomic<Int>(0)
  /// The follower's number in the pool.
  let number: Int
  let wake = WakeSignal()
  private var thread = pthread_t()

  /// Opens the connection and starts the thread.
  ///
  /// - Throws: the error that keeps the database from being opened.
  package init(
    _ configuration: FollowerConfiguration, number: Int, output: any SubscriptionOutput, readers: ReaderPool,
    numbers: CommitNumbers, epochs: FileEpochs = FileEpochs(), watcher: DatabaseWatcher? = nil, logger: Logger
  ) throws {
    self.number = number
    let follower = try Follower(
      configuration, output: output, readers: readers, numbers: numbers, epochs: epochs, watcher: watcher,
      logger: logger,
      thread: self)
    let start = Start(follower: follower)
    thread = startThread { start.follower.run() }
  }

  /// Has no thread: `SteppedFollower` calls its ticks.
  init() { number = 0 }

  /// Any thread.
  package func post(_ command: FollowerCommand) {
    mailbox.withLock { $0.append(command) }
    wake.signal()
  }

  /// Requests a tick soon: a connection of this process has committed, or a session is drained. Any thread.
  package func requestTick() {
    wantsTick.store(true, ordering: .releasing)
    wake.signal()
  }

  /// The follower's thread.
  func takeWish() -> Bool { wantsTick.exchange(false, ordering: .acquiringAndReleasing) }

  /// A reader's transaction sees a state. Wakes no thread. Any thread.
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

  /// Ends the thread and waits for it. Must be called once, from another thread.
  package func stop() {
    post(.stop)
    pthread_join(thread, nil)
  }

  /// Waiting commands, approximately while a tick performs some. Any thread.
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

/// Hands the follower over to its thread.
// @unchecked: no other thread touches it from then on.
private struct Start: @unchecked Sendable {
  let follower: Follower
}
