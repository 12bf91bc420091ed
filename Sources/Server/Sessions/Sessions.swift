import Controllers
import Gateway
import Synchronization

/// The sessions and streams that are open, with their subscriptions.
///
/// Owner: the gateway's service thread. Other threads say what they have to say through `Gateway.notify`.
// @unchecked: used by the gateway's delegate alone, whose methods are called on one thread.
final class Sessions: @unchecked Sendable {
  /// By the low half of the channel's number: found without hashing.
  private var sessions: [Session?] = []
  /// When the first of their tokens calls for something, or sooner: in seconds since 1970.
  private var dueAt = Int64.max

  func open(_ channel: ChannelID, as identity: Identity = .anonymous) {
    while sessions.count <= channel.slot { sessions.append(nil) }
    sessions[channel.slot] = Session(channel: channel, identity)
    noteDue(of: channel)
  }

  func close(_ channel: ChannelID) { if self[channel] != nil { sessions[channel.slot] = nil } }

  /// Nil for one that is closed.
  subscript(_ channel: ChannelID) -> Session? {
    get { channel.slot < sessions.count && sessions[channel.slot]?.channel == channel ? sessions[channel.slot] : nil }
    set { sessions[channel.slot] = newValue }
  }

  /// Who a session or stream is; nobody when it is closed.
  func identity(of channel: ChannelID) -> Identity { self[channel]?.identity ?? .anonymous }

  enum Admission {
    case admitted(SubscriptionKey)
    case duplicate, tooMany, sessionIsGone
  }

  /// Takes the id of a subscription to come.
  func admit(_ id: String, of channel: ChannelID, follower: FollowerThread, limit: Int) -> Admission {
    guard let session = self[channel] else { return .sessionIsGone }
    if session.subscriptions[Array(id.utf8)] != nil { return .duplicate }
    if session.subscriptions.count >= limit { return .tooMany }
    return .admitted(self[channel]!.admit(id, follower))
  }

  /// The subscription that has an id, and its follower; nil when there is none.
  func find(_ id: String, of channel: ChannelID) -> (key: SubscriptionKey, follower: FollowerThread)? {
    guard let found = self[channel]?.subscriptions[Array(id.utf8)] else { return nil }
    return (SubscriptionKey(session: channel.rawValue, id: id, number: found.number), found.follower)
  }

  func subscriptions(of channel: ChannelID) -> [(key: SubscriptionKey, follower: FollowerThread)] {
    (self[channel]?.subscriptions ?? [:]).map { id, found in
      let id = String(decoding: id, as: UTF8.self)
      return (SubscriptionKey(session: channel.rawValue, id: id, number: found.number), found.follower)
    }
  }

  /// A session has another token.
  func noteDue(of channel: ChannelID) { dueAt = min(dueAt, self[channel]?.who.dueAt ?? .max) }

  /// What the tokens of sessions call for at a time, in seconds since 1970.
  func takeDue(at now: Int64) -> [(ChannelID, SessionIdentity.Due)] {
    if now < dueAt { return [] }
    dueAt = .max
    var all: [(ChannelID, SessionIdentity.Due)] = []
    for index in sessions.indices {
      guard let channel = sessions[index]?.channel else { continue }
      if let due = sessions[index]!.who.takeDue(at: now) { all.append((channel, due)) }
      noteDue(of: channel)
    }
    return all
  }

  /// Frees the id of the subscription of a number: another one may have it by now.
  func remove(_ number: UInt64, of channel: ChannelID) {
    guard let id = self[channel]?.subscriptions.first(where: { $0.value.number == number })?.key else { return }
    self[channel]!.subscriptions[id] = nil
  }
}

/// What is known of one session or stream.
struct Session {
  let channel: ChannelID
  /// By the bytes of the id, the follower that serves the subscription, and the subscription's number.
  fileprivate(set) var subscriptions: [[UInt8]: (follower: FollowerThread, number: UInt64)] = [:]
  /// Of the subscription admitted last.
  private var lastNumber: UInt64 = 0
  let requests = UnansweredRequests()
  var who: SessionIdentity
  var identity: Identity { who.identity }

  init(channel: ChannelID, _ identity: Identity) {
    self.channel = channel
    who = SessionIdentity(identity)
  }

  fileprivate mutating func admit(_ id: String, _ follower: FollowerThread) -> SubscriptionKey {
    lastNumber += 1
    subscriptions[Array(id.utf8)] = (follower, lastNumber)
    return SubscriptionKey(session: channel.rawValue, id: id, number: lastNumber)
  }
}

/// The requests of a session that were read and are not answered yet. While there are too many, no more are read.
///
/// Any thread.
final class UnansweredRequests: Sendable {
  private let count = Atomic<Int>(0)
  /// No more are read until `count` has halved.
  private let isPaused = Atomic<Bool>(false)

  func begin() { count.add(1, ordering: .acquiringAndReleasing) }

  /// - Returns: whether the session is to be read again.
  func end(limit: Int) -> Bool {
    let left = count.subtract(1, ordering: .acquiringAndReleasing).newValue
    return left <= limit / 2 && isPaused.exchange(false, ordering: .acquiringAndReleasing)
  }

  /// Whether another request may be read; if not, `end` says when.
  func mayBeginAnother(limit: Int) -> Bool {
    if count.load(ordering: .acquiring) < limit { return true }
    isPaused.store(true, ordering: .releasing)
    // The last one may have ended in between, and seen no pause.
    return count.load(ordering: .acquiring) <= limit / 2 && isPaused.exchange(false, ordering: .acquiringAndReleasing)
  }
}

extension ChannelID {
  fileprivate var slot: Int { Int(UInt32(truncatingIfNeeded: rawValue)) }
}
