import COpenSSL
import Wire

/// A public key, as OpenSSL has it.
// @unchecked: OpenSSL uses an immutable key from any thread.
final class PublicKey: @unchecked Sendable {
  enum Kind: String, Sendable {
    case rsa = "RSA"
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"
    case ed25519 = "Ed25519"
  }

  let kind: Kind
  /// An `EVP_PKEY`.
  let pointer: OpaquePointer

  /// The lengths of RSA keys: the least one by RFC 7518, 3.3; OpenSSL verifies nothing with longer ones.
  private static let bits: ClosedRange<Int32> = 2_048...16_384

  /// Nil if keys of this kind sign no tokens.
  ///
  /// - Parameter pointer: an `EVP_PKEY`, which is freed.
  private init?(owning pointer: OpaquePointer?) {
    // Errors would stay in this thread's list, which TLS reads on the service thread.
    defer { ERR_clear_error() }
    guard let pointer else { return nil }
    guard let kind = Self.kind(of: pointer) else {
      EVP_PKEY_free(pointer)
      return nil
    }
    self.kind = kind
    self.pointer = pointer
  }

  deinit { EVP_PKEY_free(pointer) }

  private static func kind(of key: OpaquePointer) -> Kind? {
    if EVP_PKEY_is_a(key, "RSA") == 1 { return bits.contains(EVP_PKEY_get_bits(key)) && signs(rsa: key) ? .rsa : nil }
    if EVP_PKEY_is_a(key, "ED25519") == 1 { return .ed25519 }
    var name = [CChar](repeating: 0, count: 32)
    guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return nil }
    let curves: [String: Kind] = ["prime256v1": .p256, "secp384r1": .p384, "secp521r1": .p521]
    return curves[String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)]
  }

  /// Whether the exponent is an odd number above 1: with 1, anybody could write a valid signature.
  private static func signs(rsa key: OpaquePointer) -> Bool {
    var exponent: OpaquePointer?
    defer { BN_free(exponent) }
    return EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 && BN_is_odd(exponent) == 1
      && BN_is_one(exponent) == 0
  }

  /// - Parameter pem: `PUBLIC KEY`, or `RSA PUBLIC KEY`.
  convenience init?(pem: String) {
    self.init(owning: Self.key(pem: Array(pem.utf8)))
  }

  private static func key(pem: [UInt8]) -> OpaquePointer? {
    let source = BIO_new_mem_buf(pem, Int32(clamping: pem.count))
    defer { BIO_free(source) }
    var (name, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
    var (bytes, length): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    guard PEM_read_bio(source, &name, &header, &bytes, &length) == 1, let name else { return nil }
    defer { for memory in [UnsafeMutableRawPointer(name), .init(header), .init(bytes)] { freeOpenSSL(memory) } }
    var next = UnsafePointer(bytes)
    return switch String(cString: name) {
    case "PUBLIC KEY": d2i_PUBKEY(nil, &next, length)
    case "RSA PUBLIC KEY": d2i_PublicKey(EVP_PKEY_RSA, nil, &next, length)
    default: nil
    }
  }

  /// Makes an RSA key from the numbers of a JSON Web Key, which are big-endian.
  convenience init?(modulus: [UInt8], exponent: [UInt8]) {
    // OpenSSL keeps pointers to the names.
    let key = OSSL_PKEY_PARAM_RSA_N.withCString { modulusName in
      OSSL_PKEY_PARAM_RSA_E.withCString { exponentName in
        Self.rsa([(modulusName, modulus), (exponentName, exponent)])
      }
    }
    self.init(owning: key)
  }

  private static func rsa(_ numbers: [(name: UnsafePointer<CChar>, bytes: [UInt8])]) -> OpaquePointer? {
    let builder = OSSL_PARAM_BLD_new()
    let integers = numbers.map { BN_bin2bn($0.bytes, Int32(clamping: $0.bytes.count), nil) }
    for (number, integer) in zip(numbers, integers) { OSSL_PARAM_BLD_push_BN(builder, number.name, integer) }
    let parameters = OSSL_PARAM_BLD_to_param(builder)
    let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
    defer {
      EVP_PKEY_CTX_free(context)
      OSSL_PARAM_free(parameters)
      OSSL_PARAM_BLD_free(builder)
      for integer in integers { BN_free(integer) }
    }
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1 else { return nil }
    return EVP_PKEY_fromdata(context, &key, Int32(openssl_public_key), parameters) == 1 ? key : nil
  }

  /// Makes a key of a curve from the numbers of a JSON Web Key. Each number has the curve's length; `y` is empty for
  /// Ed25519.
  convenience init?(_ kind: Kind, x: [UInt8], y: [UInt8]) {
    guard x.count == kind.coordinateBytes, kind == .ed25519 ? y.isEmpty : y.count == x.count else { return nil }
    self.init(
      owning: kind == .ed25519
        ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, x, x.count) : Self.point([4] + x + y, kind))
  }

  /// - Parameter point: on the curve, uncompressed (SEC 1, 2.3.3).
  private static func point(_ point: [UInt8], _ kind: Kind) -> OpaquePointer? {
    let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_paramgen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, kind.rawValue) == 1,
      EVP_PKEY_paramgen(context, &key) == 1
    else { return nil }
    if EVP_PKEY_set1_encoded_public_key(key, point, point.count) == 1 { return key }
    EVP_PKEY_free(key)
    return nil
  }
}

extension PublicKey.Kind {
  /// How long a number of a curve is, such as each half of an ECDSA signature; 0 for RSA.
  var coordinateBytes: Int {
    switch self {
    case .rsa: 0
    case .p256, .ed25519: 32
    case .p384: 48
    case .p521: 66
    }
  }
}

/// `OPENSSL_free`, a macro.
private func freeOpenSSL(_ memory: UnsafeMutableRawPointer?) { CRYPTO_free(memory, nil, 0) }
