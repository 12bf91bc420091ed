/// The limits of each client of a role. Where a limit is nil, the server's own limit holds.
package struct RoleLimits: Sendable, Equatable {
  /// Sessions and streams at a time.
  package var connections: Int?
  package var subscriptions: Int?
  /// Messages of all its sessions a second, and five times as many after a pause.
  package var messages: Int?
  /// HTTP requests a second, likewise.
  package var requests: Int?
  /// Queries that are not answered yet.
  package var queries: Int?
  /// Seconds that one query may run.
  package var time: Int?
  /// Rows that the result of a query may have.
  package var rows: Int?
  /// Bytes that the keys of a result may take, and its contents where they are kept.
  package var bytes: Int?

  package init() {}

  var bounds: ClientLimits.Bounds {
    var bounds = ClientLimits.Bounds()
    if let requests { bounds.requests = .withBurst(requests) }
    if let messages { bounds.messages = .withBurst(messages) }
    bounds.most[.connections] = connections
    bounds.most[.subscriptions] = subscriptions
    bounds.most[.queries] = queries
    return bounds
  }
}

/// The allowances that the clients of each role have used, by identity. Clients without a subject have only the limits
/// of their address.
///
/// A value: `UsageLimits` guards it.
struct IdentityLimits {
  /// A role of the server, or of a rule for some of its databases.
  struct Group: Hashable, Sendable {
    /// 0: the server's.
    let rule: Int
    let role: String

    init(rule: Int, role: String) { (self.rule, self.role) = (rule, role) }

    fileprivate init(_ identity: Identity) { self.init(rule: identity.rule, role: identity.role) }
  }

  private var roles: [Group: ClientLimits]

  init(_ roles: [Group: RoleLimits]) { self.roles = roles.mapValues { ClientLimits($0.bounds) } }

  /// An identity that was charged, to be refunded.
  struct Payer: Hashable, Sendable {
    fileprivate let role: Group
    fileprivate let client: LimitedClient
  }

  enum Verdict {
    /// Nil: nothing has to be given back.
    case granted(Payer?)
    case refused
  }

  mutating func take(_ resource: ClientLimits.Resource, of identity: Identity, at now: Int64) -> Verdict {
    let role = Group(identity)
    guard let subject = identity.subject, roles[role] != nil else { return .granted(nil) }
    guard let client = roles[role]!.take(resource, of: .subject(subject), at: now) else { return .refused }
    return .granted(Payer(role: role, client: client))
  }

  mutating func giveBack(_ resource: ClientLimits.Resource, of payer: Payer?) {
    guard let payer else { return }
    roles[payer.role]?.giveBack(resource, of: payer.client)
  }

  /// - Returns: whether the client may send a message.
  mutating func takeMessage(of identity: Identity, at now: Int64) -> Bool {
    guard let subject = identity.subject else { return true }
    return roles[Group(identity)]?.takeMessage(of: .subject(subject), at: now) ?? true
  }

  /// - Returns: 0, or the microseconds until the client may send a request.
  mutating func takeRequest(of identity: Identity, at now: Int64) -> Int64 {
    guard let subject = identity.subject else { return 0 }
    return roles[Group(identity)]?.takeRequest(of: .subject(subject), at: now) ?? 0
  }
}
