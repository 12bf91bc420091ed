import Delivery
import Gateway
import Ground
import RankedCollections
import Requests
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
  private var identityLimits: IdentityLimits

  init(_ configuration: ServerConfiguration) {
    limits = ClientLimits(configuration.limits.clientBounds)
    limited = LimitedAddresses(configuration.limits)
    identityLimits = IdentityLimits(configuration)
  }

  func open(_ channel: ChannelID, for client: ClientAddress) {
    while sessions.count <= channel.slot { sessions.append(nil) }
    sessions[channel.slot] = Session(channel: channel, client: client)
  }

  enum Becoming {
    /// Whoever it is has all connections that one may have.
    case refused
    case same
    /// The session now sees the rows of another identity.
    case another
  }

  /// A session or stream has another token.
  func become(_ identity: Identity, _ channel: ChannelID, at now: Int64) -> Becoming {
    guard let before = self[channel]?.identity else { return .refused }
    if before.role != identity.role || before.subject != identity.subject {
      guard case .granted(let payer) = identityLimits.take(.connections, of: identity, at: now) else { return .refused }
      identityLimits.giveBack(.connections, of: self[channel]!.payer)
      self[channel]!.payer = payer
    }
    let isAnother = self[channel]!.who.become(identity)
    dueAt = min(dueAt, self[channel]!.who.dueAt)
    return isAnother ? .another : .same
  }

  func close(_ channel: ChannelID) {
    guard let session = self[channel] else { return }
    for (_, subscription) in session.subscriptions.all { giveBack(subscription) }
    identityLimits.giveBack(.connections, of: session.payer)
    sessions[channel.slot] = nil
  }

  /// Counts a query that begins; `endQuery` ends it.
  func beginQuery(of identity: Identity, at now: Int64) -> IdentityLimits.Verdict {
    identityLimits.take(.queries, of: identity, at: now)
  }

  func endQuery(of payer: IdentityLimits.Payer) { identityLimits.giveBack(.queries, of: payer) }

  /// - Returns: 0, or the seconds until the client may send a request.
  func secondsUntilAdmitting(_ client: ClientAddress, at now: Int64) -> Int {
    guard limited.requests(client) else { return 0 }
    return Int((limits.takeRequest(of: .address(client), at: now) + 999_999) / 1_000_000)
  }

  /// The same for who the client is.
  func secondsUntilAdmitting(_ identity: Identity, at now: Int64) -> Int {
    Int((identityLimits.takeRequest(of: identity, at: now) + 999_999) / 1_000_000)
  }

  enum MessageVerdict { case welcome, tooMany, closeForTooMany }

  /// What is to become of a message that has come.
  func judgeMessage(of channel: ChannelID, at now: Int64) -> MessageVerdict {
    guard let session = self[channel] else { return .welcome }
    let isWithinLimits =
      (!limited.messages(session.client) || limits.takeMessage(of: .address(session.client), at: now))
      && identityLimits.takeMessage(of: session.identity, at: now)
    if isWithinLimits { return .welcome }
    return limits.bounds.patience.take(from: &sessions[channel.slot]!.refused, at: now) == 0
      ? .tooMany : .closeForTooMany
  }

  private func giveBack(_ subscription: Session.Subscription) {
    if let payer = subscription.payers.address { limits.giveBack(.subscriptions, of: payer) }
    identityLimits.giveBack(.subscriptions, of: subscription.payers.identity)
  }

  /// Nil for one that is closed.
  subscript(_ channel: ChannelID) -> Session? {
    get { channel.slot < sessions.count && sessions[channel.slot]?.channel == channel ? sessions[channel.slot] : nil }
    set { sessions[channel.slot] = newValue }
  }

  /// The identity of a session or stream; nil when it is closed.
  func identity(of channel: ChannelID) -> Identity { self[channel]?.identity ?? .anonymous }

  enum Admission {
    case admitted(SubscriptionKey)
    case duplicate, tooMany, tooManyOfClient, sessionIsGone
  }

  /// Takes the id of a subscription to come.
  func admit(
    _ id: String, of channel: ChannelID, host: any SubscriptionHost, limit: Int, at now: Int64
  ) -> Admission {
    guard let session = self[channel] else { return .sessionIsGone }
    if session.subscriptions[Array(id.utf8)] != nil { return .duplicate }
    if session.subscriptions.count >= limit { return .tooMany }
    var payer: LimitedClient?
    if limited.subscriptions(session.client) {
      payer = limits.take(.subscriptions, of: .address(session.client), at: now)
      if payer == nil { return .tooManyOfClient }
    }
    guard case .granted(let identityPayer) = identityLimits.take(.subscriptions, of: session.identity, at: now) else {
      if let payer { limits.giveBack(.subscriptions, of: payer) }
      return .tooManyOfClient
    }
    return .admitted(self[channel]!.admit(id, host, (payer, identityPayer)))
  }

  /// The subscription that has an id, and what serves it; nil when there is none.
  func find(_ id: String, of channel: ChannelID) -> (key: SubscriptionKey, host: any SubscriptionHost)? {
    guard let found = self[channel]?.subscriptions[Array(id.utf8)] else { return nil }
    return (SubscriptionKey(session: channel.rawValue, id: id, number: found.number), found.host)
  }

  func subscriptions(of channel: ChannelID) -> [(key: SubscriptionKey, host: any SubscriptionHost)] {
    (self[channel]?.subscriptions.all ?? []).map { id, found in
      let id = String(decoding: id, as: UTF8.self)
      return (SubscriptionKey(session: channel.rawValue, id: id, number: found.number), found.host)
    }
  }

  /// What the tokens of sessions call for at a time, in seconds since 1970.
  func takeDue(at now: Int64) -> [(ChannelID, SessionIdentity.Due)] {
    if now < dueAt { return [] }
    dueAt = .max
    var all: [(ChannelID, SessionIdentity.Due)] = []
    for index in sessions.indices {
      guard let channel = sessions[index]?.channel else { continue }
      if let due = sessions[index]!.who.takeDue(at: now) { all.append((channel, due)) }
      dueAt = min(dueAt, sessions[index]!.who.dueAt)
    }
    return all
  }

  /// Frees the id of the subscription of a number: another one may have it by now.
  func remove(_ number: UInt64, of channel: ChannelID) {
    guard let (id, subscription) = self[channel]?.subscriptions.all.first(where: { $0.value.number == number }) else {
      return
    }
    giveBack(subscription)
    self[channel]!.subscriptions[id] = nil
  }
}

/// What is known of one session or stream.
struct Session {
  /// Nil without an identity.
  typealias Payers = (address: LimitedClient?, identity: IdentityLimits.Payer?)

  struct Subscription {
    /// What serves it.
    let host: any SubscriptionHost
    let number: UInt64
    /// Whom it counts for.
    let payers: Payers
  }

  let channel: ChannelID
  let client: ClientAddress
  /// By the bytes of the id.
  fileprivate(set) var subscriptions = SmallDictionary<[UInt8], Subscription>()
  /// Messages that were beyond what the client may send.
  fileprivate var refused = RateLimit.Account()
  /// The number of the newest subscription.
  private var lastNumber: UInt64 = 0
  let requests = UnansweredRequests()
  var who = SessionIdentity(.anonymous)
  /// The client whose connection it is.
  fileprivate var payer: IdentityLimits.Payer?
  var identity: Identity { who.identity }

  init(channel: ChannelID, client: ClientAddress) {
    self.channel = channel
    self.client = client
  }

  fileprivate mutating func admit(
    _ id: String, _ host: any SubscriptionHost, _ payers: Payers
  ) -> SubscriptionKey {
    lastNumber += 1
    subscriptions[Array(id.utf8)] = Subscription(host: host, number: lastNumber, payers: payers)
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

  /// - Returns: whether the session must be read again.
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
