import Wire

extension TokenKeys {
  /// - Throws: a phrase with the error in the secret.
  static func secret(_ bytes: [UInt8], for algorithms: [SignatureAlgorithm]) throws(ServerError) -> TokenKeys {
    for algorithm in algorithms where bytes.count < algorithm.secretBytes {
      let name = algorithm.rawValue
      throw ServerError("has \(bytes.count) bytes: a secret for \(name) has \(algorithm.secretBytes) at least")
    }
    var keys = TokenKeys()
    keys.add(.secret(bytes), id: nil, for: algorithms)
    return keys
  }

  /// - Parameter text: a public key as PEM, or a JSON Web Key Set.
  /// - Throws: a phrase with the error in it.
  static func file(_ text: String, for algorithms: [SignatureAlgorithm]) throws(ServerError) -> TokenKeys {
    if text.drop(while: \.isWhitespace).hasPrefix("{") { return try set(json: text, for: algorithms) }
    guard let key = PublicKey(pem: text) else {
      throw ServerError(
        "holds neither a public key (PEM; RSA from 2048 bits, P-256, P-384, P-521, Ed25519) nor a JSON Web Key Set")
    }
    var keys = TokenKeys()
    keys.add(.published(key), id: nil, for: algorithms)
    if keys.isEmpty { throw ServerError("holds a key of another kind than \(names(algorithms)) takes") }
    return keys
  }

  /// Reads a JSON Web Key Set (RFC 7517). Keys for other purposes, and of kinds that are unknown here, are passed over.
  ///
  /// - Throws: a phrase that says what is wrong with it; also when it has no key for any of the algorithms.
  static func set(json: String, for algorithms: [SignatureAlgorithm]) throws(ServerError) -> TokenKeys {
    guard let set = try? JSONParser.parse(json), case .array(let list)? = set["keys"] else {
      throw ServerError("is no JSON Web Key Set: {\"keys\": […]}")
    }
    if list.count > countLimit { throw ServerError("has more than \(countLimit) keys") }
    var keys = TokenKeys()
    for json in list {
      guard let key = PublicKey(json: json) else { continue }
      // A key that names its algorithm is for that one alone (RFC 7517, 4.4).
      let own = json["alg"].map { name in algorithms.filter { .string($0.rawValue) == name } } ?? algorithms
      keys.add(.published(key), id: json.text("kid"), for: own)
    }
    if keys.isEmpty { throw ServerError("has no key for \(names(algorithms))") }
    return keys
  }

  private static func names(_ algorithms: [SignatureAlgorithm]) -> String {
    algorithms.map(\.rawValue).joined(separator: ", ")
  }
}

extension PublicKey {
  /// The public part of a JSON Web Key for signatures. Symmetric keys are ignored: a published key is not secret.
  fileprivate convenience init?(json: JSONValue) {
    if let use = json["use"], use != .string("sig") { return nil }
    let curve = json.text("crv").flatMap(Kind.init)
    switch (json.text("kty"), curve) {
    case ("RSA", _): self.init(modulus: json.bytes("n"), exponent: json.bytes("e"))
    case ("EC", let curve?) where curve != .ed25519: self.init(curve, x: json.bytes("x"), y: json.bytes("y"))
    case ("OKP", .ed25519): self.init(.ed25519, x: json.bytes("x"), y: [])
    default: return nil
    }
  }
}

extension JSONValue {
  fileprivate func text(_ member: String) -> String? {
    if case .string(let text)? = self[member] { text } else { nil }
  }

  /// The bytes that a member encodes in base64url; empty if it is malformed. Padding and plain base64 are accepted,
  /// because some issuers write them.
  fileprivate func bytes(_ member: String) -> [UInt8] {
    guard var text = text(member) else { return [] }
    while text.last == "=" { text.removeLast() }
    return Base64.decodeURL(text.replacing("+", with: "-").replacing("/", with: "_")[...]) ?? []
  }
}
