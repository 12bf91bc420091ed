/// How a token may be signed (RFC 7518, RFC 8037). "none" is no signature.
package enum SignatureAlgorithm: String, CaseIterable, Sendable {
  case hs256 = "HS256"
  case hs384 = "HS384"
  case hs512 = "HS512"
  case rs256 = "RS256"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case ps256 = "PS256"
  case ps384 = "PS384"
  case ps512 = "PS512"
  case es256 = "ES256"
  case es384 = "ES384"
  case es512 = "ES512"
  case edDSA = "EdDSA"

  /// Whether it signs with a secret that the server has as well.
  var takesSecret: Bool { secretBytes > 0 }

  /// The least length of a secret: that of the hash (RFC 7518, 3.2).
  var secretBytes: Int {
    switch self {
    case .hs256: 32
    case .hs384: 48
    case .hs512: 64
    default: 0
    }
  }
}
