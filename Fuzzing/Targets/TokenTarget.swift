// The fixed secret is a valid key, so `try!` cannot fail.
// swift-format-ignore-file: NeverUseForceTry

import Foundation
import LiveQuery

@testable import Server
@testable import Wire

/// Tokens and key sets of strangers. The first byte says what the rest is: a token; the header and claims of one that
/// is signed; a key set, or a key in PEM.
enum TokenTarget {
  private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
  private static let keys = try! TokenKeys.secret(secret, for: [.hs256])
  private static let now: Int64 = 1_000_000
  private static let verifier: TokenVerifier = {
    var configuration = JWTConfiguration(algorithms: [.hs256], keys: .fixed(keys))
    configuration.audience = "freshet"
    return TokenVerifier(configuration, clock: WallClock { now })
  }()

  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    guard let kind = input.first else { return false }
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    switch kind & 3 {
    case 0:
      if case .good = verifier.verify(text, keys) { fatalError("a token that nobody signed is good") }
    case 1: verifySigned(text)
    case 2: _ = try? TokenKeys.file(text, for: SignatureAlgorithm.allCases)
    default: _ = try? TokenKeys.set(json: text, for: SignatureAlgorithm.allCases)
    }
    return true
  }

  private static func verifySigned(_ text: String) {
    let parts = text.split(separator: "\n", maxSplits: 1).map { Base64.encodeURL(Array($0.utf8)) }
    guard parts.count == 2 else { return }
    let signed = "\(parts[0]).\(parts[1])"
    let signature = SignatureVerifier.code(secret, .hs256, Array(signed.utf8))
    let token = "\(signed).\(Base64.encodeURL(signature))"
    guard case .good(let identity) = verifier.verify(token, keys) else { return }
    check(identity.expires.map { $0.addingClamped(TokenVerifier.leeway) > now } ?? true, "an expired token is good")
    // One byte of the signature decides.
    let other = Array(signature.dropLast()) + [signature.last! ^ 1]
    if case .good = verifier.verify("\(signed).\(Base64.encodeURL(other))", keys) { fatalError("any signature does") }
  }
}

extension Base64 {
  fileprivate static func encodeURL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
