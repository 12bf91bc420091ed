import Gateway
import Synchronization

/// The allowances that clients have used, by address and by identity, on all service threads together.
///
/// Any thread: one lock.
final class UsageLimits: Sendable {
  private struct Usages {
    var addresses: ClientLimits
    var identities: IdentityLimits
  }

  /// Nil without an identity.
  typealias Payers = (address: LimitedClient?, identity: IdentityLimits.Payer?)

  private let usages: Mutex<Usages>
  private let limited: LimitedAddresses
  private let clock: @Sendable () -> Int64

  /// - Parameter roles: the limits of roles that have some.
  /// - Parameter clock: microseconds.
  init(_ limits: ServerLimits, roles: [IdentityLimits.Group: RoleLimits], clock: @escaping @Sendable () -> Int64) {
    usages = Mutex(Usages(addresses: ClientLimits(limits.clientBounds), identities: IdentityLimits(roles)))
    limited = LimitedAddresses(limits)
    self.clock = clock
  }

  /// Microseconds of the clock by which clients are limited.
  var now: Int64 { clock() }

  /// - Returns: 0, or the seconds until the client may send a request.
  func secondsUntilAdmitting(_ client: ClientAddress) -> Int {
    guard limited.requests(client) else { return 0 }
    return seconds(usages.withLock { $0.addresses.takeRequest(of: .address(client), at: now) })
  }

  /// As above, for an identity.
  func secondsUntilAdmitting(_ identity: Identity) -> Int {
    seconds(usages.withLock { $0.identities.takeRequest(of: identity, at: now) })
  }

  private func seconds(_ microseconds: Int64) -> Int { Int((microseconds + 999_999) / 1_000_000) }

  /// - Returns: whether the client may send a message.
  func takeMessage(of client: ClientAddress, _ identity: Identity) -> Bool {
    let now = now
    return usages.withLock { usages in
      (!limited.messages(client) || usages.addresses.takeMessage(of: .address(client), at: now))
        && usages.identities.takeMessage(of: identity, at: now)
    }
  }

  func take(_ resource: ClientLimits.Resource, of identity: Identity) -> IdentityLimits.Verdict {
    usages.withLock { $0.identities.take(resource, of: identity, at: now) }
  }

  func giveBack(_ resource: ClientLimits.Resource, of payer: IdentityLimits.Payer?) {
    usages.withLock { $0.identities.giveBack(resource, of: payer) }
  }

  /// - Returns: the clients to give the subscription back to; nil if the client has reached its limit.
  func takeSubscription(of client: ClientAddress, _ identity: Identity) -> Payers? {
    let now = now
    return usages.withLock { usages in
      var address: LimitedClient?
      if limited.subscriptions(client) {
        address = usages.addresses.take(.subscriptions, of: .address(client), at: now)
        if address == nil { return nil }
      }
      guard case .granted(let payer) = usages.identities.take(.subscriptions, of: identity, at: now) else {
        if let address { usages.addresses.giveBack(.subscriptions, of: address) }
        return nil
      }
      return (address, payer)
    }
  }

  func giveBackSubscription(of payers: Payers) {
    usages.withLock { usages in
      if let address = payers.address { usages.addresses.giveBack(.subscriptions, of: address) }
      usages.identities.giveBack(.subscriptions, of: payers.identity)
    }
  }
}
