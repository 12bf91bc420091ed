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

  /// What their clients have used of what they may.
  private var limits: ClientLimits
  private let limited: LimitedAddresses

  init(_ configuration: ServerConfiguration) {
    limits = ClientLimits(configuration.clientBounds)
    limited = LimitedAddresses(configuration)
  }

  func open(_ channel: ChannelID, for client: ClientAddress, as identity: Identity = .anonymous) {
    while sessions.count <= channel.slot { sessions.append(nil) }
    sessions[channel.slot] = Session(channel: channel, client: client, identity)
    noteDue(of: channel)
  }

  func close(_ channel: ChannelID) {
    guard let session = self[channel] else { return }
    for subscription in session.subscriptions.values { giveBack(subscription) }
    sessions[channel.slot] = nil
  }

  /// - Returns: 0, or the seconds until the client may send a request.
  func secondsUntilAdmitting(_ client: ClientAddress, at now: Int64) -> Int {
    guard limited.requests(client) else { return 0 }
    return Int((limits.takeRequest(of: .address(client), at: now) + 999_999) / 1_000_000)
  }

  enum MessageVerdict { case welcome, tooMany, closeForTooMany }

  /// What is to become of a message that has come.
  func judgeMessage(of channel: ChannelID, at now: Int64) -> MessageVerdict {
    guard let client = self[channel]?.client, limited.messages(client) else { return .welcome }
    if limits.takeMessage(of: .address(client), at: now) { return .welcome }
    return limits.bounds.patience.take(from: &sessions[channel.slot]!.refused, at: now) == 0
      ? .tooMany : .closeForTooMany
  }

  private func giveBack(_ subscription: Session.Subscription) {
    if let payer = subscription.payer { limits.giveBack(subscriptions: 1, of: payer) }
  }

  /// Nil for one that is closed.
  subscript(_ channel: ChannelID) -> Session? {
    get { channel.slot < sessions.count && sessions[channel.slot]?.channel == channel ? sessions[channel.slot] : nil }
    set { sessions[channel.slot] = newValue }
  }

  /// Who a session or stream is; nobody when it is closed.
  func identity(of channel: ChannelID) -> Identity { self[channel]?.identity ?? .anonymous }

  enum Admission {
    case admitted(SubscriptionKey)
    case duplicate, tooMany, tooManyOfClient, sessionIsGone
  }

  /// Takes the id of a subscription to come.
  func admit(
    _ id: String, of channel: ChannelID, follower: FollowerThread, limit: Int, at now: Int64
  ) -> Admission {
    guard let session = self[channel] else { return .sessionIsGone }
    if session.subscriptions[Array(id.utf8)] != nil { return .duplicate }
    if session.subscriptions.count >= limit { return .tooMany }
    var payer: LimitedClient?
    if limited.subscriptions(session.client) {
      payer = limits.takeSubscription(of: .address(session.client), at: now)
      if payer == nil { return .tooManyOfClient }
    }
    return .admitted(self[channel]!.admit(id, follower, payer))
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
    guard let (id, subscription) = self[channel]?.subscriptions.first(where: { $0.value.number == number }) else {
      return
    }
    giveBack(subscription)
    self[channel]!.subscriptions[id] = nil
  }
}

/// What is known of one session or stream.
struct Session {
  struct Subscription {
    /// Who serves it.
    let follower: FollowerThread
    let number: UInt64
    /// Whom it counts for; nil for nobody.
    let payer: LimitedClient?
  }

  let channel: ChannelID
  let client: ClientAddress
  /// By the bytes of the id.
  fileprivate(set) var subscriptions: [[UInt8]: Subscription] = [:]
  /// Messages that were beyond what the client may send.
  fileprivate var refused = RateLimit.Account()
  /// Of the subscription admitted last.
  private var lastNumber: UInt64 = 0
  let requests = UnansweredRequests()
  var who: SessionIdentity
  var identity: Identity { who.identity }

  init(channel: ChannelID, client: ClientAddress, _ identity: Identity) {
    self.channel = channel
    self.client = client
    who = SessionIdentity(identity)
  }

  fileprivate mutating func admit(
    _ id: String, _ follower: FollowerThread, _ payer: LimitedClient?
  ) -> SubscriptionKey {
    lastNumber += 1
    subscriptions[Array(id.utf8)] = Subscription(follower: follower, number: lastNumber, payer: payer)
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
