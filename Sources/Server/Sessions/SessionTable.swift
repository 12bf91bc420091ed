import Controllers
import Synchronization

/// What the server knows of each WebSocket session and each stream of events: its subscriptions, and whether frames are
/// still on their way.
///
/// Any thread: one lock, value types under it.
final class SessionTable: Sendable {
  fileprivate struct State {
    let session: UInt64
    /// Frames have been handed over and the kernel does not have them all yet.
    var isBusy = false
    /// A follower waits to be told that they are gone.
    var isAwaited = false
    /// By the bytes of the id, the follower that serves the subscription, and the subscription's number.
    var subscriptions: [[UInt8]: (follower: FollowerThread, number: UInt64)] = [:]
    /// Of the subscription admitted last.
    var number: UInt64 = 0
    /// Requests that were read and are not answered yet.
    var waiting = 0
    /// No more is read from it until `waiting` has halved.
    var isPaused = false

    /// - Returns: whether somebody waited for it.
    mutating func noteDrained() -> Bool {
      defer { (isBusy, isAwaited) = (false, false) }
      return isAwaited
    }
  }

  private let states = Mutex(States())

  func open(_ session: UInt64) { states.withLock { $0.open(session) } }

  func close(_ session: UInt64) { states.withLock { $0.close(session) } }

  var all: [UInt64] { states.withLock { $0.all } }

  /// How many there are now.
  var counts: (sessions: Int, streams: Int) {
    let all = self.all
    let streams = all.count { EventStreams.isStream($0) }
    return (all.count - streams, streams)
  }

  enum Admission {
    case admitted(SubscriptionKey)
    case duplicate, tooMany, sessionIsGone
  }

  /// Takes the id of a subscription to come.
  func admit(_ id: String, of session: UInt64, follower: FollowerThread, limit: Int) -> Admission {
    states.withLock { states in
      states.update(session) { state in
        if state.subscriptions[Array(id.utf8)] != nil { return .duplicate }
        if state.subscriptions.count >= limit { return .tooMany }
        state.number += 1
        state.subscriptions[Array(id.utf8)] = (follower, state.number)
        return .admitted(SubscriptionKey(session: session, id: id, number: state.number))
      } ?? .sessionIsGone
    }
  }

  /// The subscription that has an id, and its follower; nil when there is none.
  func find(_ id: String, of session: UInt64) -> (key: SubscriptionKey, follower: FollowerThread)? {
    states.withLock { states in
      guard let found = states.update(session, { $0.subscriptions[Array(id.utf8)] }) ?? nil else { return nil }
      return (SubscriptionKey(session: session, id: id, number: found.number), found.follower)
    }
  }

  /// A request was read.
  func requestRead(_ session: UInt64) { states.withLock { _ = $0.update(session) { $0.waiting += 1 } } }

  /// A request is answered, or needs no answer any more.
  ///
  /// - Returns: whether the session is to be read again.
  func requestEnded(_ session: UInt64, limit: Int) -> Bool {
    states.withLock { states in
      states.update(session) { state in
        state.waiting -= 1
        guard state.isPaused, state.waiting <= limit / 2 else { return false }
        state.isPaused = false
        return true
      } ?? false
    }
  }

  /// Whether another request may be read from the session; if not, `requestEnded` says when.
  func mayBeRead(_ session: UInt64, limit: Int) -> Bool {
    states.withLock { states in
      states.update(session) { state in
        state.isPaused = state.waiting >= limit
        return !state.isPaused
      } ?? true
    }
  }

  /// Frees the subscription's id, unless another one has it by now.
  func remove(_ key: SubscriptionKey) {
    states.withLock { states in
      _ = states.update(key.session) { state in
        let id = Array(key.id.utf8)
        if state.subscriptions[id]?.number == key.number { state.subscriptions[id] = nil }
      }
    }
  }

  /// Whether nothing is on its way to the session; when something is, `drained` will say so once it is gone.
  func isDrained(_ session: UInt64) -> Bool {
    states.withLock { states in
      states.update(session) { state in
        if state.isBusy { state.isAwaited = true }
        return !state.isBusy
      } ?? true
    }
  }

  func markBusy(_ sessions: some Collection<UInt64>) {
    states.withLock { states in
      for session in sessions { _ = states.update(session) { $0.isBusy = true } }
    }
  }

  /// - Returns: those that somebody waited for.
  func drained(_ sessions: some Collection<UInt64>) -> [UInt64] {
    states.withLock { states in
      sessions.filter { session in states.update(session) { $0.noteDrained() } == true }
    }
  }
}

/// The states by the gateway's slot of the session, which is the low half of its number: found without hashing.
private struct States {
  private var sessions: [SessionTable.State?] = []
  private var streams: [SessionTable.State?] = []

  mutating func open(_ session: UInt64) {
    let state = SessionTable.State(session: session)
    if EventStreams.isStream(session) { put(state, into: &streams) } else { put(state, into: &sessions) }
  }

  private func put(_ state: SessionTable.State, into states: inout [SessionTable.State?]) {
    let slot = Self.slot(of: state.session)
    while states.count <= slot { states.append(nil) }
    states[slot] = state
  }

  mutating func close(_ session: UInt64) {
    let slot = Self.slot(of: session)
    guard update(session, { _ in }) != nil else { return }
    if EventStreams.isStream(session) { streams[slot] = nil } else { sessions[slot] = nil }
  }

  /// - Returns: what `body` does; nil when the session is gone.
  @inline(__always)
  mutating func update<Result>(_ session: UInt64, _ body: (inout SessionTable.State) -> Result) -> Result? {
    EventStreams.isStream(session) ? Self.update(session, &streams, body) : Self.update(session, &sessions, body)
  }

  @inline(__always)
  private static func update<Result>(
    _ session: UInt64, _ states: inout [SessionTable.State?], _ body: (inout SessionTable.State) -> Result
  ) -> Result? {
    let slot = slot(of: session)
    guard slot < states.count, states[slot]?.session == session else { return nil }
    return body(&states[slot]!)
  }

  private static func slot(of session: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: session)) }

  var all: [UInt64] { (sessions + streams).compactMap { $0?.session } }
}
