/// Which tokens are believed, and what they say: `auth.jwt` of the configuration file.
package struct JWTConfiguration: Sendable {
  package enum Keys: Sendable {
    case fixed(TokenKeys)
    /// The https address of a JSON Web Key Set.
    case published(String)
  }

  /// One or more, all with a secret or all with public keys.
  package var algorithms: [SignatureAlgorithm]
  package var keys: Keys
  /// What the claim `iss` must be; nil for anything.
  package var issuer: String?
  /// What the claim `aud` must be or contain; nil for anything.
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
