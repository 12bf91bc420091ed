package import Following
package import Ground
package import LiveQuery
package import Logging
package import Requests
import Store

/// The file and the limits of the feed.
package struct FeedConfiguration: Sendable {
  /// The most bytes of rows that are remembered for readers that reconnect.
  package var historyBytes = 64 << 20
  /// The most bytes that capture may remember of all followed tables.
  package var captureBytes = 256 << 20
  /// The rights of roles to read.
  package var access = AccessRules()
  /// Whether the file is a replica's.
  package var readsPosition = false
  package var clock = MonotonicClock.system
  /// Keeps state for the next process; nil if nothing is kept.
  package var journal: FeedJournal?

  package init() {}
}

/// The feed of a file, which workers step. It opens the file for its first reader.
///
/// Commands arrive in a mailbox; messages leave through `SubscriptionOutput`.
package final class ChangeFeedThread: SubscriptionHost {
  private let mailbox: Mailbox<FeedCommand>
  private let item: WorkItem
  private let counter = FeedCounter()

  /// - Parameter waiter: the number that the feed passes to `SubscriptionOutput.isDrained`.
  package init(
    _ file: FollowedFile, _ configuration: FeedConfiguration, output: any SubscriptionOutput, waiter: Int,
    workers: Workers = .shared, logger: Logger
  ) {
    item = WorkItem(workers)
    mailbox = Mailbox(item)
    let feed = FirstStep { [unowned self] in
      ChangeFeed(file, configuration, output: output, waiter: waiter, wake: item, counter: counter, logger: logger) {
        [unowned self] in takeCommands()
      }
    }
    // The shared workers also read the events of files.
    Workers.shared.start()
    item.start(feed)
  }

  private func takeCommands() -> [FeedCommand] {
    item.assertIsCurrent()
    return mailbox.isEmpty ? [] : mailbox.takeAll()
  }

  private func post(_ command: FeedCommand) { mailbox.post(command) }

  /// Any thread.
  package func subscribe(_ subscription: FeedSubscription) { post(FeedCommand.subscribe(subscription)) }

  /// Calls back, on the thread that steps the feed, once a reader has been sent everything up to now. Any thread.
  ///
  /// - Parameter reply: called with the position, or with nil if there is no such reader.
  package func whenCaughtUp(_ key: SubscriptionKey, reply: @escaping @Sendable (String?) -> Void) {
    post(FeedCommand.catchUp(key, reply: reply))
  }

  /// Any thread. Commands that concern only lists are refused or ignored.
  package func post(_ command: FollowerCommand) {
    switch command {
    case .unsubscribe(let key): post(FeedCommand.unsubscribe(key))
    case .end(let key, let error): post(FeedCommand.end(key, error))
    case .request(let key, _, _): post(FeedCommand.refuse(key))
    case .sessionClosed(let session): post(FeedCommand.sessionClosed(session))
    default: break
    }
  }

  /// Counters since the start. Any thread.
  package var counts: FeedCounts { counter.counts }

  /// Requests a step, because a session is drained or this process has committed. Any thread.
  package func requestTick() { item.signal() }

  /// Ends the feed and waits until its connection is closed. Must be called once, and not from a worker.
  package func stop() {
    post(FeedCommand.stop)
    item.join()
  }
}

/// Creates the feed in its first step, because this reads the kept state.
private final class FirstStep: Stepped {
  private let make: () -> ChangeFeed
  private lazy var feed = make()

  init(_ make: @escaping () -> ChangeFeed) { self.make = make }

  func step() -> Rest { feed.step() }

  func postpone() -> Nanoseconds? { feed.postpone() }
}
