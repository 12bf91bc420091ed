import Controllers
import Foundation
import LiveQuery
import Logging
import Store
import Synchronization
import TestSupport
import Wire

/// Lists that a follower without a thread follows, each held by a client's model: nothing happens between two steps.
final class SteppedLists {
  let path: String
  let writer: SQLiteSession
  let output = ModelOutput()
  private let follower: SteppedFollower

  init(path: String, _ queries: [OracleQuery], configure: (inout FollowerConfiguration) -> Void) throws {
    self.path = path
    var configuration = FollowerConfiguration(path: path)
    configure(&configuration)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    follower = try SteppedFollower(configuration, output: output, logger: logger)
    writer = try SQLiteSession(path: path)
    for (index, query) in queries.enumerated() {
      let source = try QuerySource(json: try JSONParser.parse(Array(query.json.utf8)))
      guard case .adHoc(let asked) = source else { continue }
      let key = SubscriptionKey(session: 1, id: "\(index)", number: UInt64(index + 1))
      let window = query.window.map { Window(offset: $0.offset, limit: $0.limit) }
      follower.post(
        .subscribe(.init(key: key, query: asked, window: window, minInterval: 0, shape: .objects)))
    }
  }

  func step() { follower.step() }
}

/// Keeps what a client would hold of each subscription.
final class ModelOutput: SubscriptionOutput {
  struct State {
    var models: [String: ClientModel] = [:]
    /// The last error that ended a subscription, and what does not fit the protocol.
    var troubles: [String] = []
  }

  private let state = Mutex(State())
  var models: [String: ClientModel] { state.withLock { $0.models } }
  var troubles: [String] { state.withLock { $0.troubles } }

  func isDrained(_ session: UInt64) -> Bool { true }
  func subscriptionEnded(_ key: SubscriptionKey) {}

  func send(_ delivery: Delivery, shape: Shape, to recipients: [Recipients]) {
    state.withLock { state in
      for recipient in recipients {
        do { try state.take(delivery, shape, recipient.id) } catch {
          state.troubles.append("\(recipient.id): \(error)")
        }
      }
    }
  }
}

extension ModelOutput.State {
  fileprivate mutating func take(_ delivery: Delivery, _ shape: Shape, _ id: String) throws {
    let body: MessageBody
    switch delivery {
    case .snapshot(let snapshot): body = .snapshot(snapshot, RowLayout(columns: snapshot.columns, shape: shape))
    case .rows(let rows):
      body = .rows(
        version: rows.version, window: rows.window, offset: rows.offset, rows: rows.rows, range: rows.range,
        isComplete: rows.isComplete, RowLayout(columns: rows.columns, shape: shape))
    case .patch(let patch):
      let header = PatchHeader(
        from: patch.from, to: patch.to, commit: patch.commit, total: patch.total, alongside: patch.alongside)
      body = .patch(
        header, patch.patch, rows: patch.rows, changed: patch.changed,
        RowLayout(columns: patch.columns, shape: shape))
    case .error(let error, let isFatal):
      if isFatal { troubles.append("\(id) ended: \(error.message)") }
      return
    case .located, .unsubscribed: return
    }
    let message = try JSONParser.parse(body.message(id: Array("\"\(id)\"".utf8)))
    try models[id, default: ClientModel()].apply(message)
  }
}
