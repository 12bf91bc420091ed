import LiveQuery
import Wire

/// A JSON Web Token (RFC 7519) in the compact form of JWS, taken apart; nothing of it has been verified.
struct WebToken {
  /// Nil for "none", and for unknown ones.
  let algorithm: SignatureAlgorithm?
  /// `kid`.
  let keyID: String?
  let claims: [String: JSONValue]
  /// The signed bytes.
  let signed: [UInt8]
  let signature: [UInt8]

  /// Longer ones are refused: they are read on the service thread.
  static let lengthLimit = 16 << 10

  /// - Throws: `unauthenticated`.
  init(_ text: String) throws(FreshetError) {
    if text.utf8.count > Self.lengthLimit {
      throw .unauthenticated("the token is longer than \(Self.lengthLimit) bytes")
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64.decodeURL(parts[2])
    else { throw .unauthenticated("the token is no JSON Web Token") }
    // Extensions that have to be understood (RFC 7515, 4.1.11): none is supported.
    if header["crit"] != nil { throw .unauthenticated("the token has extensions that this server does not know") }
    algorithm = if case .string(let name)? = header["alg"] { SignatureAlgorithm(rawValue: name) } else { nil }
    keyID = if case .string(let id)? = header["kid"] { id } else { nil }
    self.claims = claims
    self.signature = signature
    signed = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
  }

  private static func object(_ part: Substring) -> [String: JSONValue]? {
    guard let bytes = Base64.decodeURL(part), case .object(let members)? = try? JSONParser.parse(bytes) else {
      return nil
    }
    return members
  }
}

extension FreshetError {
  static func unauthenticated(_ message: String) -> FreshetError { FreshetError(.unauthenticated, message) }
}
