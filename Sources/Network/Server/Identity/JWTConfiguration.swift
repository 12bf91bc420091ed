/// The accepted tokens, and their claims: `auth.jwt` of the configuration file.
package struct JWTConfiguration: Sendable {
  package enum Keys: Sendable {
    case fixed(TokenKeys)
    /// The https address of a JSON Web Key Set.
    case published(String)
  }

  /// One or more, all with a secret or all with public keys.
  package var algorithms: [SignatureAlgorithm]
  package var keys: Keys
  /// The required value of the claim `iss`; nil for any.
  package var issuer: String?
  /// The required value or member of the claim `aud`; nil for any.
  package var audience: String?
  /// The claim that names the role.
  package var roleClaim = "role"
  /// Fetches published keys.
  package var fetcher: any KeyFetcher = HTTPSKeyFetcher()

  package init(algorithms: [SignatureAlgorithm], keys: Keys) {
    self.algorithms = algorithms
    self.keys = keys
  }
}
