import ChangeCapture
import Following
import Ground
import LiveQuery
import Logging
import Requests
import Store
import Wire

/// The feed of every change of a file's rows, in steps of ticking and sending.
/// It follows the file as followers of lists do, on a connection and with a capture of its own, so that its readers
/// slow no list down. A tick goes through each commit whose frames still exist, and makes it an entry of the log;
/// commits whose frames are gone become one entry together. Following starts with the first reader, and continues until
/// the server ends.
///
/// ```
/// file ─► capture ─► CommitBuilder ─► ChangeLog ─► ChangeView (of each kind of reader) ─► messages
/// ```
///
/// Owner of all state: the thread that steps it now.
final class ChangeFeed: Stepped {
  let file: FollowedFile
  let configuration: FeedConfiguration
  let output: any SubscriptionOutput
  /// For `SubscriptionOutput.isDrained`.
  let waiter: Int
  let followed: FollowedConnection
  let logger: Logger
  let take: () -> [FeedCommand]
  let wake: any Wakeable
  var tables: FeedTables?
  var log: ChangeLog
  var readers: [SubscriptionKey: FeedReader] = [:]
  var openings: [FeedSubscription] = []
  var waiting: [(key: SubscriptionKey, reply: @Sendable (String?) -> Void)] = []
  /// Commits whose rows could not be looked up in their state.
  var carried: (builder: CommitBuilder, commits: Int64)?
  /// Prefix of positions. Renewed when earlier positions become invalid.
  var epoch: String { didSet { positions = FeedPositions(epoch: epoch) ?? positions } }
  private(set) var positions: FeedPositions
  /// The number of the last tick's state.
  var commit: Int64
  /// That of the last entry of the log. Each has a higher one.
  var newest = Int64.min
  var mustTick = false
  /// A reader goes on reading.
  var mustDeliver = false
  /// State kept by another process; nil after the first tick.
  var restored: FeedJournal.Restored?
  /// When the next state is kept, and up to which entry of the log the last one was.
  var nextState = Instant.distantPast
  var keptNumber: UInt64?
  /// A reader waits for a state to be kept that has its tables.
  var mustKeep = false
  var counts = FeedCounts()
  private let counter: FeedCounter
  private(set) var isStopping = false

  /// After so long without a message, a reader is sent its position: whether or not there were commits that it may not
  /// see.
  static let quietTime = Nanoseconds.milliseconds(60_000)
  /// Bytes sent to one reader before others get their turn.
  static let turnBytes = 256 << 10
  /// Limits for the filters of one message: steps of SQLite's virtual machine, about a tenth of a second, so that a
  /// busy machine does not count; and a time that only a defect exceeds.
  static let filterSteps = 2_000_000
  static let filterTime = Nanoseconds.milliseconds(10_000)
  /// How often states are kept while something changes.
  static let stateInterval = Nanoseconds.milliseconds(60_000)
  /// The longest that a tick reads tables for.
  static let readingTime = Nanoseconds.milliseconds(500)

  init(
    _ file: FollowedFile, _ configuration: FeedConfiguration, output: any SubscriptionOutput, waiter: Int,
    wake: any Wakeable, counter: FeedCounter, logger: Logger, take: @escaping () -> [FeedCommand]
  ) {
    self.file = file
    self.configuration = configuration
    self.output = output
    self.waiter = waiter
    self.counter = counter
    self.logger = logger
    self.take = take
    self.wake = wake
    log = ChangeLog(limit: configuration.historyBytes)
    commit = file.numbers.first
    var settings = ChangeCapture.Settings()
    settings.memoryLimit = configuration.captureBytes
    settings.recordBytes = max(settings.recordBytes, configuration.historyBytes)
    let clock = configuration.clock
    restored = configuration.journal?.takeRestored()
    epoch = FeedPositions.newEpoch
    positions = FeedPositions(epoch: epoch)!
    var state = restored?.state
    followed = FollowedConnection(
      file, settings, clock: clock, thread: wake, readsPosition: configuration.readsPosition, logger: logger
    ) {
      defer { state = nil }
      return state
    }
  }

  var clock: MonotonicClock { configuration.clock }
  /// No client has read yet.
  var isUnused: Bool { tables?.isEmpty != false && openings.isEmpty && carried == nil && restored == nil }

  func step() -> Rest {
    followed.resume()
    for command in take() { perform(command) }
    if isStopping {
      close()
      return .ended
    }
    if !isUnused || followed.database != nil { keepUp() }
    for reader in readers.values where reader.passed == nil { begin(reader) }
    mustDeliver = false
    for reader in Array(readers.values) { deliver(to: reader) }
    // Count a message before any reader gets it.
    (counts.readers, counts.bytes) = (readers.count, log.byteCount)
    counter.publish(counts)
    output.flush()
    answerWaiting()
    keepState()
    return .pause(pause)
  }

  func postpone() -> Nanoseconds? { followed.postpone() }

  /// How long nothing is due except by a wake.
  private var pause: Nanoseconds {
    if tables == nil, openings.isEmpty, restored == nil, readers.isEmpty { return .max }
    return followed.pause(limit: followed.interval, mustTick: mustTick || mustDeliver, isUnused: isUnused)
  }

  private func close() {
    if let tables { try? tables.connection.capture.catchUp { try tick(tables) } }
    if let state { configuration.journal?.finish(with: state) }
    configuration.journal?.release()
    closeFile()
    readers = [:]
  }

  // MARK: - Commands

  func perform(_ command: FeedCommand) {
    switch command {
    case .subscribe(let subscription):
      openings.append(subscription)
      mustTick = true
    case .unsubscribe(let key):
      forget(key)
      output.send(.unsubscribed, shape: .arrays, to: key)
    case .end(let key, let error):
      if forget(key) { end(key, error) }
    case .refuse(let key):
      let error = FreshetError(
        .badMessage, "\"\(key.id)\" is a feed of changes: it can be unsubscribed, and nothing else")
      output.send(.error(error, isFatal: false), shape: .arrays, to: key)
    case .sessionClosed(let session):
      for key in readers.keys where key.session == session { forget(key) }
      openings.removeAll { $0.key.session == session }
    case .catchUp(let key, let reply):
      waiting.append((key, reply))
      mustTick = true
    case .stop: isStopping = true
    }
  }

  @discardableResult
  func forget(_ key: SubscriptionKey) -> Bool {
    let count = openings.count
    openings.removeAll { $0.key == key }
    guard let reader = readers.removeValue(forKey: key) else { return openings.count < count }
    if !readers.values.contains(where: { $0.view === reader.view }) { tables?.forget(reader.view) }
    return true
  }

  func end(_ key: SubscriptionKey, _ error: FreshetError) {
    output.subscriptionEnded(key, because: error.code)
    output.send(.error(error, isFatal: true), shape: .arrays, to: key)
  }

  func answerWaiting() {
    if waiting.isEmpty || mustTick { return }
    waiting.removeAll { key, reply in
      if let reader = readers[key] {
        guard reader.passed == log.last else { return false }
        reply(position(log.last))
        return true
      }
      if openings.contains(where: { $0.key == key }) { return false }
      reply(nil)
      return true
    }
  }
}
