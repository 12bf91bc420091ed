package import Gateway

/// A client as limits count it.
package enum LimitedClient: Hashable, Sendable {
  case address(ClientAddress)
  /// A subject of one role.
  case subject(String)
  /// All clients without room in the table.
  case others
}

/// The use of each client's allowances: requests and messages a second, and the number of each `Resource`.
/// Memory is bounded: a client that uses nothing is forgotten, and beyond `capacity` new clients share one allowance.
///
/// A value: `UsageLimits` guards it.
package struct ClientLimits {
  /// Resources that a client may have a number of at a time.
  package enum Resource: CaseIterable, Sendable {
    case connections, subscriptions
    /// Queries that are not answered yet.
    case queries
  }

  package struct Bounds: Sendable {
    /// HTTP requests a second, handshakes included.
    package var requests = RateLimit(perSecond: 0, burst: 0)
    /// Messages of sessions a second.
    package var messages = RateLimit(perSecond: 0, burst: 0)
    /// How many of each resource a client may have at a time. Resources that are missing here have no limit.
    package var most: [Resource: Int] = [:]
    /// Messages beyond the limit that a session may send before it is closed. One is forgiven each second.
    package var patience = RateLimit(perSecond: 1, burst: 100)

    package init() {}
  }

  private struct Usage {
    var requests = RateLimit.Account()
    var messages = RateLimit.Account()
    var held: [Resource: Int] = [:]

    func isIdle(at now: Int64) -> Bool {
      held.isEmpty && requests.isSettled(at: now) && messages.isSettled(at: now)
    }
  }

  package let bounds: Bounds
  private let capacity: Int
  private var usages: [LimitedClient: Usage] = [:]
  /// The number of clients at which the table is searched for clients that can be forgotten.
  private var sweepAt: Int
  /// When the table was last searched for them.
  private var sweptAt = Int64.min

  package init(_ bounds: Bounds, capacity: Int = 65_536) {
    self.bounds = bounds
    self.capacity = capacity
    sweepAt = min(capacity, 1_024)
  }

  /// Clients that are remembered.
  package var count: Int { usages.count }

  /// - Returns: 0, or the microseconds until the client may send a request.
  package mutating func takeRequest(of client: LimitedClient, at now: Int64) -> Int64 {
    guard bounds.requests.perSecond > 0 else { return 0 }
    let client = admit(client, at: now)
    return bounds.requests.take(from: &usages[client, default: Usage()].requests, at: now)
  }

  /// - Returns: whether the client may send a message.
  package mutating func takeMessage(of client: LimitedClient, at now: Int64) -> Bool {
    guard bounds.messages.perSecond > 0 else { return true }
    let client = admit(client, at: now)
    return bounds.messages.take(from: &usages[client, default: Usage()].messages, at: now) == 0
  }

  /// Takes one unit of a resource.
  ///
  /// - Returns: the client to give it back to; nil if the client has reached its limit.
  package mutating func take(_ resource: Resource, of client: LimitedClient, at now: Int64) -> LimitedClient? {
    guard let most = bounds.most[resource] else { return client }
    let client = admit(client, at: now)
    let held = usages[client]?.held[resource] ?? 0
    guard held < most else { return nil }
    usages[client, default: Usage()].held[resource] = held + 1
    return client
  }

  package mutating func giveBack(_ resource: Resource, of client: LimitedClient) {
    guard let held = usages[client]?.held[resource] else { return }
    usages[client]?.held[resource] = held > 1 ? held - 1 : nil
  }

  /// Makes room for a client that is not in the table. The work is in proportion to the clients that have come since
  /// the last time, or is done once a second while the table is full.
  private mutating func admit(_ client: LimitedClient, at now: Int64) -> LimitedClient {
    if usages.count < sweepAt || usages[client] != nil { return client }
    if usages.count >= capacity, sweptAt > now - 1_000_000 { return .others }
    sweptAt = now
    usages = usages.filter { !$0.value.isIdle(at: now) }
    sweepAt = min(capacity, max(1_024, 2 * usages.count))
    return usages.count < capacity ? client : .others
  }
}
