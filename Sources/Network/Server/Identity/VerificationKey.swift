import COpenSSL

/// A key as it was read, before it is known which signatures it is to verify.
enum VerificationKey: Sendable {
  case secret([UInt8])
  case published(PublicKey)

  /// Verifies signatures of an algorithm with this key; nil when the algorithm takes keys of another kind. So a public
  /// RSA key is never used as a secret.
  func verifier(for algorithm: SignatureAlgorithm) -> SignatureVerifier? {
    let fits =
      switch self {
      case .secret: algorithm.takesSecret
      case .published(let key): algorithm.keyKind == key.kind
      }
    return fits ? SignatureVerifier(algorithm: algorithm, key: self) : nil
  }
}

/// An algorithm with a key that fits it.
struct SignatureVerifier: Sendable {
  fileprivate let algorithm: SignatureAlgorithm
  fileprivate let key: VerificationKey

  /// Whether a signature is of these bytes. Any thread.
  func verifies(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
    switch key {
    case .secret(let secret):
      let code = Self.code(secret, algorithm, signed)
      return code.count == signature.count && CRYPTO_memcmp(code, signature, code.count) == 0
    case .published(let key):
      // Wrong signatures stay in this thread's list of errors, which TLS reads on the service thread.
      defer { ERR_clear_error() }
      guard let signature = key.kind.isNamedCurve ? Self.der(signature, key.kind) : signature else { return false }
      return verify(signature, signed, key)
    }
  }

  /// The message authentication code of bytes (RFC 2104).
  static func code(_ secret: [UInt8], _ algorithm: SignatureAlgorithm, _ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      var length: UInt32 = 0
      HMAC(algorithm.digest, secret, Int32(secret.count), bytes, bytes.count, buffer.baseAddress, &length)
      count = Int(length)
    }
  }

  private func verify(_ signature: [UInt8], _ signed: [UInt8], _ key: PublicKey) -> Bool {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var parameters: OpaquePointer?
    guard EVP_DigestVerifyInit(context, &parameters, algorithm.digest, nil, key.pointer) == 1 else { return false }
    if algorithm.isPSS {
      guard EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
      else { return false }
    }
    return EVP_DigestVerify(context, signature, signature.count, signed, signed.count) == 1
  }

  /// An ECDSA signature as OpenSSL takes it. A token has two numbers of the curve's length (RFC 7518, 3.4).
  private static func der(_ signature: [UInt8], _ kind: PublicKey.Kind) -> [UInt8]? {
    let half = kind.coordinateBytes
    guard signature.count == 2 * half else { return nil }
    let pair = ECDSA_SIG_new()
    defer { ECDSA_SIG_free(pair) }
    // The pair owns both.
    ECDSA_SIG_set0(
      pair, BN_bin2bn(signature, Int32(half), nil), BN_bin2bn(Array(signature[half...]), Int32(half), nil))
    let length = i2d_ECDSA_SIG(pair, nil)
    guard length > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
      var next = buffer.baseAddress
      count = Int(i2d_ECDSA_SIG(pair, &next))
    }
  }
}

extension PublicKey.Kind {
  fileprivate var isNamedCurve: Bool { self != .rsa && self != .ed25519 }
}

extension SignatureAlgorithm {
  /// An `EVP_MD`; nil for EdDSA, which has its own.
  fileprivate var digest: OpaquePointer? {
    switch self {
    case .hs256, .rs256, .ps256, .es256: EVP_sha256()
    case .hs384, .rs384, .ps384, .es384: EVP_sha384()
    case .hs512, .rs512, .ps512, .es512: EVP_sha512()
    case .edDSA: nil
    }
  }

  fileprivate var isPSS: Bool { self == .ps256 || self == .ps384 || self == .ps512 }

  /// The kind of keys that it takes; nil for a secret.
  fileprivate var keyKind: PublicKey.Kind? {
    switch self {
    case .hs256, .hs384, .hs512: nil
    case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa
    case .es256: .p256
    case .es384: .p384
    case .es512: .p521
    case .edDSA: .ed25519
    }
  }
}
