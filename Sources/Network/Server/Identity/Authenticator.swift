import Ground
import LiveQuery
import Logging
import Store
import Wire

/// Finds the identity of a token's bearer. Any thread.
final class Authenticator: Sendable {
  private let verifier: TokenVerifier
  private let fixed: TokenKeys?
  private let published: PublishedKeys?
  /// The configured roles; empty without roles.
  private let roles: Set<String>

  init(
    _ configuration: JWTConfiguration, roles: Set<String> = [], date: WallClock, clock: MonotonicClock, logger: Logger
  ) {
    self.roles = roles
    verifier = TokenVerifier(configuration, clock: date)
    switch configuration.keys {
    case .fixed(let keys):
      fixed = keys
      published = nil
    case .published(let address):
      fixed = nil
      published = PublishedKeys(
        address, for: configuration.algorithms, configuration.fetcher, clock: clock, logger: logger)
    }
    _ = published?.refresh {}
  }

  /// Verifies a token: at once where its key is known.
  ///
  /// - Parameter later: called with the answer when the key has to be fetched first, on any thread.
  /// - Returns: nil when the answer comes later. An error is `unauthenticated`, or `overloaded` when there are no keys
  ///   to verify with.
  func verify(
    _ token: AccessToken, later: @escaping @Sendable (Result<Identity, FreshetError>) -> Void
  ) -> Result<Identity, FreshetError>? {
    if let answer = answer(token) { return answer }
    let isComing = published?.refresh { [self] in later(answer(token) ?? .failure(unknownKey)) } ?? false
    if isComing { return nil }
    // A fetch may have ended since the first try.
    return answer(token) ?? .failure(unknownKey)
  }

  /// Handles timeouts. To be called now and then.
  func look() { published?.look() }

  /// Nil if no known key is for this token.
  private func answer(_ token: AccessToken) -> Result<Identity, FreshetError>? {
    switch verifier.verify(token.text, fixed ?? published?.current ?? TokenKeys()) {
    case .good(let identity): .success(identity.known(to: roles))
    case .bad(let error): .failure(error)
    case .unknownKey: nil
    }
  }

  private var unknownKey: FreshetError {
    if fixed == nil, published?.current == nil {
      return FreshetError(.overloaded, "the keys of tokens cannot be had at the moment: try again")
    }
    return .unauthenticated("the token is signed with a key that this server does not know")
  }
}
