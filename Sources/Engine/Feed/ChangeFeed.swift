import ChangeCapture
import Following
import Ground
import LiveQuery
import Logging
import Requests
import Store
import Wire

/// The feed of every change of a file's rows. Each of its steps ticks and sends messages. It follows the file as
/// followers of lists do, with a connection and a capture of its own, so that its readers do not slow down lists. A
/// tick goes through each commit whose frames still exist, and adds it to the log as an entry. Commits whose frames are
/// gone share one entry. Following starts with the first reader, and continues until the server ends.
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
  /// The number that the feed passes to `SubscriptionOutput.isDrained`.
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
  /// Commits whose rows could not be looked up yet, because the file was in a later state already. They are combined
  /// with the next ones.
  var carried: (builder: CommitBuilder, commits: Int64)?
  /// Prefix of positions. Renewed when earlier positions become invalid.
  var epoch: String { didSet { positions = FeedPositions(epoch: epoch) ?? positions } }
  private(set) var positions: FeedPositions
  /// The number of the last tick's state.
  var commit: Int64
  /// The number of the state of the log's last entry. Each entry has a higher number than the previous one.
  var newest = Int64.min
  var mustTick = false
  /// Whether a reader has further commits to be sent.
  var mustDeliver = false
  /// State kept by another process; nil after the first tick.
  var restored: FeedJournal.Restored?
  /// When the next state is due to be kept. `keptNumber` is the log's last entry when a state was last kept.
  var nextState = Instant.distantPast
  var keptNumber: UInt64?
  /// Whether a reader waits until a state with its tables is kept.
  var mustKeep = false
  var counts = FeedCounts()
  private let counter: FeedCounter
  private(set) var isStopping = false

  /// A reader that was sent no message for this time is sent its position, even if all commits since are hidden from
  /// it.
  static let quietTime = Nanoseconds.milliseconds(60_000)
  /// The bytes that one reader is sent before other readers get their turn.
  static let turnBytes = 256 << 10
  /// Limits for evaluating the filters of one message. The steps of SQLite's virtual machine take about a tenth of a
  /// second, and do not depend on how busy the machine is. The time is a limit that only a defect exceeds.
  static let filterSteps = 2_000_000
  static let filterTime = Nanoseconds.milliseconds(10_000)
  /// How often states are kept while something changes.
  static let stateInterval = Nanoseconds.milliseconds(60_000)
  /// The longest time that a tick reads tables.
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
  /// Whether no client has read the feed yet.
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
    // Counters are updated before any reader gets the message.
    (counts.readers, counts.bytes) = (readers.count, log.byteCount)
    counter.publish(counts)
    output.flush()
    answerWaiting()
    keepState()
    return .pause(pause)
  }

  func postpone() -> Nanoseconds? { followed.postpone() }

  /// How long nothing is due if nothing wakes the feed.
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
