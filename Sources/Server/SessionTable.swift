import Controllers
import Synchronization

/// What the server knows of each WebSocket session and each stream of events: its subscriptions, and whether frames are
/// still on their way.
///
/// Any thread: one lock, value types under it.
final class SessionTable: Sendable {
  private struct State {
    /// Frames have been handed over and the kernel does not have them all yet.
    var isBusy = false
    /// A worker waits to be told that they are gone.
    var isAwaited = false
    /// By the bytes of the id, the worker that serves the subscription, and the subscription's number.
    var subscriptions: [[UInt8]: (worker: Worker, number: UInt64)] = [:]
    /// Of the subscription admitted last.
    var number: UInt64 = 0

    /// - Returns: whether somebody waited for it.
    mutating func noteDrained() -> Bool {
      defer { (isBusy, isAwaited) = (false, false) }
      return isAwaited
    }
  }

  private let states = Mutex<[UInt64: State]>([:])

  func open(_ session: UInt64) { states.withLock { $0[session] = State() } }

  func close(_ session: UInt64) { states.withLock { _ = $0.removeValue(forKey: session) } }

  var all: [UInt64] { states.withLock { Array($0.keys) } }

  /// How many there are now.
  var counts: (sessions: Int, streams: Int) {
    states.withLock { states in
      let streams = states.keys.count { EventStreams.isStream($0) }
      return (states.count - streams, streams)
    }
  }

  enum Admission {
    case admitted(SubscriptionKey)
    case duplicate, tooMany, sessionIsGone
  }

  /// Takes the id of a subscription to come.
  func admit(_ id: String, of session: UInt64, worker: Worker, limit: Int) -> Admission {
    states.withLock { states in
      guard let state = states[session] else { return .sessionIsGone }
      if state.subscriptions[Array(id.utf8)] != nil { return .duplicate }
      if state.subscriptions.count >= limit { return .tooMany }
      states[session]?.number += 1
      states[session]?.subscriptions[Array(id.utf8)] = (worker, state.number + 1)
      return .admitted(SubscriptionKey(session: session, id: id, number: state.number + 1))
    }
  }

  /// The subscription that has an id, and its worker; nil when there is none.
  func find(_ id: String, of session: UInt64) -> (key: SubscriptionKey, worker: Worker)? {
    states.withLock { states in
      guard let found = states[session]?.subscriptions[Array(id.utf8)] else { return nil }
      return (SubscriptionKey(session: session, id: id, number: found.number), found.worker)
    }
  }

  /// Frees the subscription's id, unless another one has it by now.
  func remove(_ key: SubscriptionKey) {
    states.withLock { states in
      let id = Array(key.id.utf8)
      guard states[key.session]?.subscriptions[id]?.number == key.number else { return }
      states[key.session]?.subscriptions[id] = nil
    }
  }

  /// Whether nothing is on its way to the session; when something is, `drained` will say so once it is gone.
  func isDrained(_ session: UInt64) -> Bool {
    states.withLock { states in
      guard states[session]?.isBusy == true else { return true }
      states[session]?.isAwaited = true
      return false
    }
  }

  func markBusy(_ sessions: some Collection<UInt64>) {
    states.withLock { states in
      for session in sessions { states[session]?.isBusy = true }
    }
  }

  /// - Returns: those that somebody waited for.
  func drained(_ sessions: some Collection<UInt64>) -> [UInt64] {
    states.withLock { states in
      sessions.filter { session in states[session]?.noteDrained() == true }
    }
  }
}
