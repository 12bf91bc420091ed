import ChangeCapture
import Controllers
import Feed
import Following
import FreshetResults
import LiveQuery
import Logging
import Requests
import Synchronization
import Wire

/// The lists of one file, and the feeds that receive their messages.
final class Engine: ResultsSource {
  let pool: ControllerPool
  let output = EngineOutput()
  private let lastSession = Atomic<UInt64>(0)
  private let isClosed = Atomic<Bool>(false)

  init(path: String, _ configuration: LiveDatabase.Configuration) throws {
    var follower = FollowerConfiguration(path: path)
    follower.queryTimeout = configuration.queryTimeout
    follower.rowLimit = configuration.rowLimit
    follower.captureBytes = configuration.captureMemory
    follower.linger = configuration.linger
    // Rows go to a list in this process, so parts need not be small to share a socket: they only bound memory.
    follower.chunkBytes = 1 << 20
    follower.patchBytes = 1 << 20
    let kept = Self.kept(path, configuration)
    follower.keeper = kept?.keeper
    follower.firstCommit = kept?.keeper.first ?? follower.firstCommit
    do {
      pool = try ControllerPool(
        follower, followers: configuration.followers, readers: configuration.readers, output: output,
        epochs: FileEpochs(startingWith: kept?.keeper.epoch), journal: kept?.journal, logger: configuration.logger)
    } catch {
      throw (error as? FreshetError) ?? FreshetError(.internal, "cannot open \(path): \(error)")
    }
  }

  /// The keeper of the file's state; nil if nothing is kept. If the folder cannot be used, one warning is logged.
  private static func kept(
    _ path: String, _ configuration: LiveDatabase.Configuration
  ) -> (keeper: StateKeeper, journal: FeedJournal)? {
    guard let folder = configuration.stateFolder else { return nil }
    do throws(StateFailure) {
      let followers = min(max(1, configuration.followers), ControllerPool.mostFollowers)
      return (
        try StateKeeper(of: path, in: folder, followers: followers, logger: configuration.logger),
        try FeedJournal(of: path, part: "changes", in: folder, logger: configuration.logger)
      )
    } catch {
      configuration.logger.warning("nothing is kept for the next start: \(error)")
      return nil
    }
  }

  deinit { close() }

  /// Idempotent. Waits for the threads.
  func close() {
    if isClosed.exchange(true, ordering: .relaxed) { return }
    pool.stop()
    output.close()
  }

  func follow(_ query: Query, window: Window?) -> any ResultsFeed {
    EngineFeed(self, session: newSession(), query: query, window: window)
  }

  func newSession() -> UInt64 { lastSession.add(1, ordering: .relaxed).newValue }
}

/// Puts the followers' messages into the feeds' mailboxes.
final class EngineOutput: SubscriptionOutput {
  /// Keyed by session; nil: closed.
  private let mailboxes = Mutex<[UInt64: Mailbox]?>([:])
  /// Mailboxes of readers of changes.
  private let changes = Mutex<[UInt64: ChangesMailbox<ChangesMessage>]?>([:])

  func add(_ mailbox: Mailbox, session: UInt64) {
    let isOpen = mailboxes.withLock { mailboxes in
      mailboxes?[session] = mailbox
      return mailboxes != nil
    }
    if !isOpen { mailbox.close() }
  }

  func add(_ mailbox: ChangesMailbox<ChangesMessage>, session: UInt64) {
    let isOpen = changes.withLock { changes in
      changes?[session] = mailbox
      return changes != nil
    }
    if !isOpen { mailbox.close(.closedDatabase) }
  }

  func remove(changesOf session: UInt64) { changes.withLock { _ = $0?.removeValue(forKey: session) } }

  func remove(session: UInt64) { mailboxes.withLock { _ = $0?.removeValue(forKey: session) } }

  func close() {
    mailboxes.withLock { mailboxes in
      for mailbox in mailboxes.map({ Array($0.values) }) ?? [] { mailbox.close() }
      mailboxes = nil
    }
    changes.withLock { changes in
      for mailbox in changes.map({ Array($0.values) }) ?? [] { mailbox.close(.closedDatabase) }
      changes = nil
    }
  }

  func isDrained(_ session: UInt64, for follower: Int) -> Bool {
    if let isDrained = changes.withLock({ $0?[session]?.isDrained }) { return isDrained }
    return mailboxes.withLock { $0?[session]?.isEmpty(orWakes: follower) ?? true }
  }

  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients]) {
    if tellReaders(of: message, recipients) { return }
    guard let message = ListMessage(message) else { return }
    mailboxes.withLock { mailboxes in
      for session in recipients.lazy.flatMap(\.sessions) { mailboxes?[session]?.put(message) }
    }
  }

  /// - Returns: whether the recipients are readers of changes.
  private func tellReaders(of message: ServerMessage, _ recipients: [Recipients]) -> Bool {
    let told: Result<ChangesMessage, FreshetError>
    switch message {
    case .changes(let message): told = .success(message)
    case .error(let error, _): told = .failure(error)
    default: return false
    }
    return changes.withLock { changes in
      var areReaders = false
      for session in recipients.lazy.flatMap(\.sessions) {
        guard let mailbox = changes?[session] else { continue }
        mailbox.put(told)
        areReaders = true
      }
      return areReaders
    }
  }

  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode) {}
}

extension FreshetError {
  fileprivate static let closedDatabase = FreshetError(.shuttingDown, "the database is closed")
}
