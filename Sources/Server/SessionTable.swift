import Controllers
import Synchronization

/// What the server knows of each WebSocket session: its subscriptions, and whether frames are still on their way.
///
/// Any thread: one lock, value types under it.
final class SessionTable: Sendable {
  private struct State {
    /// Frames have been handed over and the kernel does not have them all yet.
    var isBusy = false
    /// A worker waits to be told that they are gone.
    var isAwaited = false
    /// By id, the worker that serves the subscription.
    var subscriptions: [String: Worker] = [:]
  }

  private let states = Mutex<[UInt64: State]>([:])

  func open(_ session: UInt64) { states.withLock { $0[session] = State() } }

  func close(_ session: UInt64) { states.withLock { _ = $0.removeValue(forKey: session) } }

  var count: Int { states.withLock { $0.count } }

  enum Admission {
    case admitted, duplicate, tooMany
  }

  func admit(_ key: SubscriptionKey, worker: Worker, limit: Int) -> Admission {
    states.withLock { states in
      guard let state = states[key.session] else { return .admitted }
      if state.subscriptions[key.id] != nil { return .duplicate }
      if state.subscriptions.count >= limit { return .tooMany }
      states[key.session]?.subscriptions[key.id] = worker
      return .admitted
    }
  }

  /// Frees the subscription's id.
  ///
  /// - Returns: its worker; nil when there is no such subscription.
  @discardableResult
  func remove(_ key: SubscriptionKey) -> Worker? {
    states.withLock { $0[key.session]?.subscriptions.removeValue(forKey: key.id) }
  }

  func worker(of key: SubscriptionKey) -> Worker? {
    states.withLock { $0[key.session]?.subscriptions[key.id] }
  }

  /// Whether nothing is on its way to the session; when something is, `drained` will say so once it is gone.
  func isDrained(_ session: UInt64) -> Bool {
    states.withLock { states in
      guard states[session]?.isBusy == true else { return true }
      states[session]?.isAwaited = true
      return false
    }
  }

  func markBusy(_ session: UInt64) { states.withLock { $0[session]?.isBusy = true } }

  /// - Returns: whether somebody waited for it.
  func drained(_ session: UInt64) -> Bool {
    states.withLock { states in
      let isAwaited = states[session]?.isAwaited ?? false
      states[session]?.isBusy = false
      states[session]?.isAwaited = false
      return isAwaited
    }
  }
}
