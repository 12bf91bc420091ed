import Foundation
import GRDB
import LiveQuery
import Logging
import Store
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Controllers
@testable import Following
@testable import Requests

/// Keeps what a follower sends; sessions read as fast as the test says.
final class Recorder: SubscriptionOutput {
  struct Sent: Sendable {
    var delivery: String
    var from = ""
    var version = ""
    var commit: Int64?
    /// For each of a patch's contents, the indexes of the columns that may have changed.
    var changed: [String] = []
    var recipients: [Recipients]

    func goes(to key: SubscriptionKey) -> Bool {
      recipients.contains { $0.id == key.id && $0.sessions.contains(key.session) }
    }
  }

  private struct State {
    var sent: [Sent] = []
    var ended: [SubscriptionKey] = []
    var slow: Set<UInt64> = []
    var whenAsked: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  func setDrained(_ isDrained: Bool, session: UInt64) {
    state.withLock { state in
      if isDrained { state.slow.remove(session) } else { state.slow.insert(session) }
    }
  }

  /// Runs `body` once, when a tick that has followed a commit asks whether it may send.
  func whenAsked(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenAsked = body } }

  func isDrained(_ session: UInt64, for follower: Int) -> Bool {
    let body = state.withLock { state in
      defer { state.whenAsked = nil }
      return state.whenAsked
    }
    body?()
    return state.withLock { !$0.slow.contains(session) }
  }

  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients]) {
    let sent = Sent(message, recipients)
    state.withLock { $0.sent.append(sent) }
  }

  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode) { state.withLock { $0.ended.append(key) } }

  var sent: [Sent] { state.withLock { $0.sent } }
  var ended: [SubscriptionKey] { state.withLock { $0.ended } }

  /// The messages to a subscription.
  func deliveries(_ key: SubscriptionKey) -> [String] {
    sent.filter { $0.goes(to: key) }.map(\.delivery)
  }
}

extension Recorder.Sent {
  init(_ message: ServerMessage, _ recipients: [Recipients]) {
    self.recipients = recipients
    switch message {
    case .snapshot(let snapshot):
      self.delivery = "snapshot \(snapshot.total)"
      commit = snapshot.commit
      version = snapshot.version
    case .rows(let rows):
      self.delivery = "rows \(rows.range.count)"
      version = rows.version
    case .patch(let message):
      let patch = message.patch
      self.delivery =
        "patch -\(patch.deleted.count) +\(patch.inserted.count) >\(patch.moved.count) *\(patch.updated.count)"
      from = message.from
      commit = message.commit
      changed = message.changed.map { set in
        message.columns.indices.filter { set.contains($0) }.map { "\($0)" }.joined(separator: ",")
      }
      version = message.to
    case .unsubscribed, .committed, .pong, .authenticated, .changes: self.delivery = "\(message.type)"
    case .located(_, let place):
      self.delivery = "located \(place.map { "\($0.path.section),\($0.path.item) \($0.offset)" } ?? "null")"
    case .error(let error, let isFatal): self.delivery = "\(isFatal ? "fatal" : "error") \(error.code.rawValue)"
    }
  }
}

/// A follower on a database file, another process that writes, and a recorder.
final class FollowerFixture {
  let path: String
  let recorder = Recorder()
  let follower: FollowerThread
  let readers: ReaderPool
  let writer: SQLiteSession
  let queue: DatabaseQueue
  /// Nil: the machine's clock.
  private let clock: ManualClock?

  /// - Parameter readers: the number of readers; 0: their work is done by `readers.runAll`.
  init(
    _ schema: String, isWAL: Bool = true, clock: ManualClock? = nil, readers readerCount: Int = 2,
    configure: (inout FollowerConfiguration) -> Void = { _ in }
  ) throws {
    self.clock = clock
    path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    try SQLiteShell(path: path).run((isWAL ? "PRAGMA journal_mode=WAL;\n" : "") + schema)
    queue = try DatabaseQueue(path: path)
    var configuration = FollowerConfiguration(path: path)
    configure(&configuration)
    if let clock { configuration.clock = clock.clock }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    readers = ReaderPool(FollowedFile(path), count: readerCount, clock: configuration.clock, logger: logger)
    follower = try FollowerThread(
      configuration, number: 0, output: recorder, readers: readers, logger: logger)
    writer = try SQLiteSession(path: path)
  }

  deinit {
    readers.stop()
    follower.stop()
    try? queue.close()
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  func subscribe(_ key: SubscriptionKey, _ query: Query, window: Window? = nil, minInterval: Duration = .zero) {
    follower.post(
      .subscribe(.init(key: key, query: query, window: window, minInterval: minInterval, shape: .arrays)))
  }

  /// Asks for a snapshot. When it returns the follower has followed, and sent, everything committed before the call.
  ///
  /// - Returns: the rows of the result as text, or the error's code.
  @discardableResult
  func snapshot(_ query: Query) -> String {
    let answer = ask(query)
    // A tick answers before it sends new messages. When the next tick answers, these have been sent.
    _ = ask(query)
    return answer
  }

  private func ask(_ query: Query) -> String { wait(query, unless: nil, for: .zero).result() }

  /// Returns when the follower has done all its work and sent the messages.
  func settle() {
    // A tick answers this before it performs sessions' requests and sends new messages. When the next tick answers,
    // that is done.
    for _ in 0..<2 { _ = statistics }
  }

  /// Moves the clock forward.
  func advance(by duration: Duration) {
    settle()
    clock?.advance(by: duration)
    settle()
  }

  /// Does the readers' work, and what follows from it.
  func runReaders() {
    settle()
    while readers.runAll() { settle() }
  }

  /// The answer to a request, later.
  final class Answer: Sendable {
    private let text = Mutex("")
    private let done = DispatchSemaphore(value: 0)

    /// Nil before the answer.
    var resultSoFar: String? { text.withLock { $0.isEmpty ? nil : $0 } }

    fileprivate func set(_ text: String) {
      self.text.withLock { $0 = text }
      done.signal()
    }

    func result() -> String {
      if done.wait(timeout: .now() + 120) == .timedOut { return "no answer" }
      return text.withLock { $0 }
    }
  }

  /// Requests a snapshot of a version other than the given one.
  func wait(_ query: Query, unless version: String?, for duration: Duration, id: UInt64? = nil) -> Answer {
    let answer = Answer()
    var request = FollowerCommand.SnapshotRequest(query: query, window: nil) { answer.set(Self.text($0)) }
    request.id = id
    request.unless = version.map { [$0] } ?? []
    request.wait = duration
    follower.post(.snapshot(request))
    return answer
  }

  func explain(_ query: Query) -> Result<Explanation, FreshetError> {
    let result = Mutex<Result<Explanation, FreshetError>>(.failure(FreshetError(.timeout, "no answer")))
    let done = DispatchSemaphore(value: 0)
    follower.post(
      .explain(query) { explanation in
        result.withLock { $0 = explanation }
        done.signal()
      })
    _ = done.wait(timeout: .now() + 20)
    return result.withLock { $0 }
  }

  var statistics: FollowerStatistics {
    let result = Mutex(FollowerStatistics())
    let done = DispatchSemaphore(value: 0)
    follower.post(
      .status { status in
        result.withLock { $0 = status.statistics }
        done.signal()
      })
    _ = done.wait(timeout: .now() + 20)
    return result.withLock { $0 }
  }

  private static func text(_ result: Result<SnapshotAnswer, FreshetError>) -> String {
    switch result {
    case .failure(let error): return error.code.rawValue
    case .success(.unchanged(let version)): return "unchanged \(version)"
    case .success(.tooLong): return "too long"
    case .success(.snapshot(let snapshot)):
      return (0..<snapshot.rows.count).map { index in
        var values: [String] = []
        snapshot.rows.withRow(index) { reader in values = snapshot.columns.map { _ in text(reader.next()) } }
        return values.joined(separator: ",")
      }.joined(separator: " ")
    }
  }

  private static func text(_ value: PackedValue) -> String {
    switch value {
    case .null: "null"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}
