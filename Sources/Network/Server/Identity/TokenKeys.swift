/// The keys that tokens may be signed with, each with the algorithms that it may be used for.
package struct TokenKeys: Sendable {
  private struct Entry: Sendable {
    /// The `kid` of tokens signed with it; nil for the only key of a file, or a key that was published without an id.
    let id: String?
    let verifiers: [SignatureAlgorithm: SignatureVerifier]
  }

  private var entries: [Entry] = []

  /// The limit of keys: no issuer publishes as many.
  static let countLimit = 100
  /// How many keys are tried for a token that names none, because each costs time on the service thread.
  private static let attempts = 4

  var isEmpty: Bool { entries.isEmpty }

  /// - Parameter algorithms: the allowed ones. A key that fits none of them is left out.
  mutating func add(_ key: VerificationKey, id: String?, for algorithms: [SignatureAlgorithm]) {
    var verifiers: [SignatureAlgorithm: SignatureVerifier] = [:]
    for algorithm in algorithms { verifiers[algorithm] = key.verifier(for: algorithm) }
    if !verifiers.isEmpty { entries.append(Entry(id: id, verifiers: verifiers)) }
  }

  /// The keys that may verify a token.
  ///
  /// - Parameter id: the token's `kid`. Keys without an id match any `kid`.
  func verifiers(for algorithm: SignatureAlgorithm, id: String?) -> [SignatureVerifier] {
    let fitting = entries.filter { $0.verifiers[algorithm] != nil }
    let named = id.map { id in fitting.filter { $0.id == id } } ?? fitting
    let meant = named.isEmpty ? fitting.filter { $0.id == nil } : named
    return meant.prefix(Self.attempts).compactMap { $0.verifiers[algorithm] }
  }
}
