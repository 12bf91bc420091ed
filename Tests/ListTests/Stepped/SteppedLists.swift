import Controllers
import Following
import Foundation
import LiveQuery
import Logging
import Requests
import ServerSupport
import Store
import Synchronization
import TestSupport
import Wire

/// Lists that a follower without a thread follows, each held by a client's model: nothing happens between two steps,
/// and each step does the same on every machine.
final class SteppedLists {
  let path: String
  let writer: SQLiteSession
  let output = ModelOutput()
  /// Records critical log lines only.
  let log = RecordedLog()
  private let follower: SteppedFollower
  private let clock = ManualClock()
  /// How often each list was subscribed to: no two subscriptions of a session have one number.
  private var numbers: [Int: UInt64] = [:]
  private let open = Counter()

  convenience init(
    path: String, _ queries: [OracleQuery], configure: (inout FollowerConfiguration) -> Void
  ) throws {
    try self.init(path: path, queries.map { ($0, Query.Access()) }, configure: configure)
  }

  /// - Parameter queries: the queries, each with its client's access.
  init(
    path: String, _ queries: [(query: OracleQuery, access: Query.Access)],
    configure: (inout FollowerConfiguration) -> Void
  ) throws {
    self.path = path
    var configuration = FollowerConfiguration(path: path)
    configuration.clock = clock.clock
    configuration.selfCheck = .always
    configure(&configuration)
    var logger = log.logger()
    logger.logLevel = .critical
    follower = try SteppedFollower(configuration, output: output, logger: logger)
    writer = try SQLiteSession(path: path)
    for (index, (query, access)) in queries.enumerated() { try subscribe(index, query, access) }
  }

  func subscribe(_ index: Int, _ query: OracleQuery, _ access: Query.Access = .init()) throws {
    let source = try QuerySource(json: try JSONParser.parse(Array(query.json.utf8)))
    guard case .adHoc(var asked) = source else { return }
    asked.access = access
    let window = query.window.map { Window(offset: $0.offset, limit: $0.limit) }
    numbers[index, default: 0] += 1
    follower.post(
      .subscribe(.init(key: key(index), query: asked, window: window, minInterval: .zero, shape: .objects)))
  }

  func unsubscribe(_ index: Int) { follower.post(.unsubscribe(key(index))) }

  func ask(_ index: Int, _ request: SubscriptionRequest) {
    open.value.add(1, ordering: .relaxed)
    let ticket = RequestTicket { [open] in open.value.subtract(1, ordering: .relaxed) }
    follower.post(.request(key(index), request, ticket: ticket))
  }

  /// Requests that have neither been answered nor refused.
  var unanswered: Int { open.value.load(ordering: .relaxed) }

  /// Puts another query in the place of a list's.
  func requery(_ index: Int, _ query: OracleQuery) throws {
    guard case .adHoc(let asked) = try QuerySource(json: try JSONParser.parse(Array(query.json.utf8))) else { return }
    ask(index, .requery(asked, nil))
  }

  /// Sets whether a list's client reads its messages.
  func setDrained(_ index: Int, _ isDrained: Bool) {
    if output.setDrained(key(index).session, isDrained) { follower.requestTick() }
  }

  /// Each list is a session of its own.
  private func key(_ index: Int) -> SubscriptionKey {
    SubscriptionKey(session: UInt64(index + 1), id: "\(index)", number: numbers[index] ?? 0)
  }

  /// Lets the follower work until nothing is left to do, a second after the last step, because a query waits as long as
  /// its last run took.
  func step() {
    clock.advance(by: .seconds(1))
    repeat { follower.step() } while follower.isBusy
  }

  /// Makes one tick, without readers' work.
  func tick() {
    clock.advance(by: .milliseconds(10))
    follower.tick()
  }

  /// How often queries were run again. Reading it causes a tick.
  var runs: Int { statistics.refetches }

  /// The follower's statistics. Reading them causes a tick.
  var statistics: FollowerStatistics {
    let statistics = Mutex(FollowerStatistics())
    follower.post(.status { now in statistics.withLock { $0 = now.statistics } })
    tick()
    return statistics.withLock { $0 }
  }

  /// Does the readers' work, without a tick.
  func runReaders() { follower.runReaders() }
}

/// Outlives the lists: requests may end after them.
private final class Counter: Sendable {
  let value = Atomic(0)
}

/// Keeps what a client would hold of each subscription.
final class ModelOutput: SubscriptionOutput {
  struct State {
    var models: [String: ClientModel] = [:]
    /// How many messages came, by subscription.
    var messages: [String: Int] = [:]
    /// The error that ended each subscription.
    var ended: [String: FreshetError] = [:]
    /// The last error of each subscription that did not end it.
    var delays: [String: FreshetError] = [:]
    /// Sessions whose clients read nothing.
    var stalled: Set<UInt64> = []
    /// Whether a follower learned that a session has not drained, since the last report of a drained one.
    var hasWaiter = false
    /// Errors that ended subscriptions, and violations of the protocol.
    var troubles: [String] = []
  }

  private let state = Mutex(State())
  var models: [String: ClientModel] { state.withLock { $0.models } }
  var messages: [String: Int] { state.withLock { $0.messages } }
  var ended: [String: FreshetError] { state.withLock { $0.ended } }
  var delays: [String: FreshetError] { state.withLock { $0.delays } }
  var troubles: [String] { state.withLock { $0.troubles } }

  func isDrained(_ session: UInt64, for follower: Int) -> Bool {
    state.withLock { state in
      let isDrained = !state.stalled.contains(session)
      if !isDrained { state.hasWaiter = true }
      return isDrained
    }
  }

  /// - Returns: whether a follower waits for it.
  func setDrained(_ session: UInt64, _ isDrained: Bool) -> Bool {
    state.withLock { state in
      if !isDrained {
        state.stalled.insert(session)
        return false
      }
      guard state.stalled.remove(session) != nil, state.hasWaiter else { return false }
      state.hasWaiter = false
      return true
    }
  }

  /// Forgets that a list has ended, and errors.
  func forgetErrors(_ id: String) {
    state.withLock { state in
      state.ended[id] = nil
      state.delays[id] = nil
      state.troubles = []
    }
  }

  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode) {}

  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients]) {
    state.withLock { state in
      for recipient in recipients {
        do { try state.take(message, shape, recipient.id) } catch {
          state.troubles.append("\(recipient.id): \(error)")
        }
      }
    }
  }
}

extension ModelOutput.State {
  fileprivate mutating func take(_ message: ServerMessage, _ shape: Shape, _ id: String) throws {
    messages[id, default: 0] += 1
    switch message {
    case .error(let error, let isFatal):
      if isFatal {
        ended[id] = error
        models[id] = nil
      } else {
        delays[id] = error
      }
      if isFatal { troubles.append("\(id) ended: \(error.message)") }
      return
    case .located, .unsubscribed: return
    default: break
    }
    var writer = JSONWriter()
    message.write(to: &writer, id: id, shape)
    try models[id, default: ClientModel()].apply(try JSONParser.parse(writer.bytes))
  }
}
