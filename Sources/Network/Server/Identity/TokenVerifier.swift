import Ground
import LiveQuery
import Wire

/// Verifies tokens, and reads the identity of their bearers. Pure except for the clock.
struct TokenVerifier: Sendable {
  let algorithms: Set<SignatureAlgorithm>
  let issuer: String?
  let audience: String?
  let roleClaim: String
  let clock: WallClock

  /// How far a token issuer's clock may be from this one, in seconds.
  static let leeway: Int64 = 30

  init(_ configuration: JWTConfiguration, clock: WallClock) {
    algorithms = Set(configuration.algorithms)
    issuer = configuration.issuer
    audience = configuration.audience
    roleClaim = configuration.roleClaim
    self.clock = clock
  }

  enum Verdict {
    case good(Identity)
    case bad(FreshetError)
    /// The token is valid except that none of the known keys signed it.
    case unknownKey
  }

  /// Claims are checked first, so that no key is fetched for a token that would be refused anyway.
  func verify(_ text: String, _ keys: TokenKeys) -> Verdict {
    do throws(FreshetError) {
      let token = try WebToken(text)
      guard let algorithm = token.algorithm, algorithms.contains(algorithm) else {
        throw .unauthenticated("the token is not signed with an algorithm that this server takes")
      }
      let identity = try identity(token.claims)
      let verifiers = keys.verifiers(for: algorithm, id: token.keyID)
      if verifiers.isEmpty { return .unknownKey }
      let isSigned = verifiers.contains { $0.verifies(token.signature, of: token.signed) }
      return isSigned ? .good(identity) : .bad(.unauthenticated("the token's signature is wrong"))
    } catch {
      return .bad(error)
    }
  }

  private func identity(_ claims: [String: JSONValue]) throws(FreshetError) -> Identity {
    if let issuer, claims["iss"] != .string(issuer) {
      throw .unauthenticated("the token is not of the issuer that this server trusts")
    }
    if let audience, !Self.audience(claims["aud"], has: audience) {
      throw .unauthenticated("the token is not for this server")
    }
    let now = clock.now
    let expires = try Self.date("exp", claims)
    if let expires, now >= expires.addingClamped(Self.leeway) { throw .unauthenticated("the token has expired") }
    if let start = try Self.date("nbf", claims), now < start.addingClamped(-Self.leeway) {
      throw .unauthenticated("the token is not valid yet")
    }
    return Identity(
      subject: try Self.text("sub", claims), role: try Self.text(roleClaim, claims) ?? Identity.anonymousRole,
      claims: claims.mapValues { SQLValue(claim: $0) }, expires: expires,
      sealed: try SealedQueries(claims))
  }

  private static func audience(_ claim: JSONValue?, has audience: String) -> Bool {
    if case .array(let list)? = claim { list.contains(.string(audience)) } else { claim == .string(audience) }
  }

  private static func text(_ name: String, _ claims: [String: JSONValue]) throws(FreshetError) -> String? {
    switch claims[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw .unauthenticated("the token's \(name) is no text")
    }
  }

  /// A NumericDate, in whole seconds since 1970.
  private static func date(_ name: String, _ claims: [String: JSONValue]) throws(FreshetError) -> Int64? {
    switch claims[name] {
    case nil: return nil
    case .integer(let seconds): return seconds
    case .real(let seconds) where abs(seconds) < 0x1p62: return Int64(seconds.rounded(.down))
    default: throw .unauthenticated("the token's \(name) is no time")
    }
  }
}

extension SQLValue {
  /// A claim as a query gets it: arrays and objects are JSON, for SQLite's functions.
  fileprivate init(claim: JSONValue) {
    switch claim {
    case .null: self = .null
    case .bool(let value): self = .integer(value ? 1 : 0)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .array, .object: self = .text(claim.jsonText)
    }
  }
}

extension Int64 {
  func addingClamped(_ seconds: Int64) -> Int64 {
    let (sum, isTooFar) = addingReportingOverflow(seconds)
    return isTooFar ? (seconds > 0 ? .max : .min) : sum
  }
}
