import Delivery
import Gateway
import Ground
import RankedCollections
import Requests
import Synchronization

/// The sessions and streams of one service thread, with their subscriptions.
///
/// Owner: that thread. Other threads reach it through `Gateway.notify`.
// @unchecked: used by the thread's delegate alone.
final class Sessions: @unchecked Sendable {
  /// Sessions by the channel's slot, so that they are found without hashing.
  private var sessions: [Session?] = []
  /// When the first action for a token is due, or earlier: in seconds since 1970.
  private var dueAt = Int64.max
  private let limits: UsageLimits
  /// Messages beyond the limit that a session may send before it is closed.
  private let patience = ClientLimits.Bounds().patience
  private let gateway: Gateway

  init(_ gateway: Gateway, _ limits: UsageLimits) {
    self.gateway = gateway
    self.limits = limits
  }

  /// - Parameter name: the database in its path.
  func open(_ channel: ChannelID, for client: ClientAddress, database name: String?) {
    let slot = gateway.slot(of: channel)
    while sessions.count <= slot { sessions.append(nil) }
    sessions[slot] = Session(channel: channel, client: client, name: name)
  }

  /// Gives a session or stream its database.
  func enter(_ use: DatabaseUse, _ channel: ChannelID) { self[channel]?.use = use }

  /// Nil if the channel is closed, or has no database.
  func database(of channel: ChannelID) -> ServedDatabase? { self[channel]?.use?.database }

  enum Becoming {
    /// The identity has reached its limit of connections.
    case refused
    case same
    /// The session now sees the rows of another identity.
    case another
  }

  /// A session or stream has another token.
  func become(_ identity: Identity, _ channel: ChannelID) -> Becoming {
    guard let before = self[channel]?.identity else { return .refused }
    if before.role != identity.role || before.subject != identity.subject {
      guard case .granted(let payer) = limits.take(.connections, of: identity) else { return .refused }
      limits.giveBack(.connections, of: self[channel]!.payer)
      self[channel]!.payer = payer
    }
    let isAnother = self[channel]!.who.become(identity)
    dueAt = min(dueAt, self[channel]!.who.dueAt)
    return isAnother ? .another : .same
  }

  func close(_ channel: ChannelID) {
    guard let session = self[channel] else { return }
    for (_, subscription) in session.subscriptions.all { limits.giveBackSubscription(of: subscription.payers) }
    limits.giveBack(.connections, of: session.payer)
    sessions[gateway.slot(of: channel)] = nil
  }

  enum MessageVerdict { case welcome, tooMany, closeForTooMany }

  /// Decides whether a message is handled.
  func judgeMessage(of channel: ChannelID) -> MessageVerdict {
    guard let session = self[channel] else { return .welcome }
    if limits.takeMessage(of: session.client, session.identity) { return .welcome }
    return patience.take(from: &self[channel]!.refused, at: limits.now) == 0 ? .tooMany : .closeForTooMany
  }

  /// The session of a channel; nil if it is closed.
  subscript(_ channel: ChannelID) -> Session? {
    get {
      let slot = gateway.slot(of: channel)
      return slot < sessions.count && sessions[slot]?.channel == channel ? sessions[slot] : nil
    }
    set { sessions[gateway.slot(of: channel)] = newValue }
  }

  /// The identity of a session or stream; nil when it is closed.
  func identity(of channel: ChannelID) -> Identity { self[channel]?.identity ?? .anonymous }

  enum Admission {
    case admitted(SubscriptionKey)
    case duplicate, tooMany, tooManyOfClient, sessionIsGone
  }

  /// Takes the id of a subscription to come.
  func admit(
    _ id: String, of channel: ChannelID, host: any SubscriptionHost, limit: Int
  ) -> Admission {
    guard let session = self[channel] else { return .sessionIsGone }
    if session.subscriptions[Array(id.utf8)] != nil { return .duplicate }
    if session.subscriptions.count >= limit { return .tooMany }
    guard let payers = limits.takeSubscription(of: session.client, session.identity) else { return .tooManyOfClient }
    return .admitted(self[channel]!.admit(id, host, payers))
  }

  /// The subscription with an id, and its host; nil if it does not exist.
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

  /// The actions that the tokens of sessions need at a time, in seconds since 1970.
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

  /// Frees the id of a subscription by its number, unless another subscription has the id by now.
  func remove(_ number: UInt64, of channel: ChannelID) {
    guard let (id, subscription) = self[channel]?.subscriptions.all.first(where: { $0.value.number == number }) else {
      return
    }
    limits.giveBackSubscription(of: subscription.payers)
    self[channel]!.subscriptions[id] = nil
  }
}

/// The known facts of one session or stream.
struct Session {
  struct Subscription {
    /// The host that serves it.
    let host: any SubscriptionHost
    let number: UInt64
    /// The client and identity that it counts for.
    let payers: UsageLimits.Payers
  }

  let channel: ChannelID
  let client: ClientAddress
  /// The database in its path; nil: its token leads to one, or the server has one alone.
  let name: String?
  fileprivate(set) var use: DatabaseUse?
  /// By the bytes of the id.
  fileprivate(set) var subscriptions = SmallDictionary<[UInt8], Subscription>()
  /// Messages beyond the client's limit.
  fileprivate var refused = RateLimit.Account()
  /// The number of the newest subscription.
  private var lastNumber: UInt64 = 0
  let requests = UnansweredRequests()
  var who = SessionIdentity(.anonymous)
  /// The client whose connection it is.
  fileprivate var payer: IdentityLimits.Payer?
  var identity: Identity { who.identity }

  init(channel: ChannelID, client: ClientAddress, name: String?) {
    self.channel = channel
    self.client = client
    self.name = name
  }

  fileprivate mutating func admit(
    _ id: String, _ host: any SubscriptionHost, _ payers: UsageLimits.Payers
  ) -> SubscriptionKey {
    lastNumber += 1
    subscriptions[Array(id.utf8)] = Subscription(host: host, number: lastNumber, payers: payers)
    return SubscriptionKey(session: channel.rawValue, id: id, number: lastNumber)
  }
}

/// Counts the requests of a session that were read and are not answered yet. While there are too many, no more are
/// read.
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
    // The last request may have ended in between, before it could see the pause.
    return count.load(ordering: .acquiring) <= limit / 2 && isPaused.exchange(false, ordering: .acquiringAndReleasing)
  }
}
