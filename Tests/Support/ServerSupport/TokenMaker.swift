import COpenSSL
import Foundation
package import Server
import Synchronization
import TestSupport

/// Makes valid and invalid tokens. `Tests/Fixtures/tokens.json` has some of another implementation.
package struct TokenMaker: Sendable {
  private enum Key { case secret(String), rsa }

  private let name: String
  private let keyID: String?
  private let key: Key

  /// - Parameter claims: JSON.
  /// - Parameter header: JSON that replaces the right header.
  package func token(_ claims: String, header: String? = nil) throws -> String {
    let id = keyID.map { ",\"kid\":\"\($0)\"" } ?? ""
    let header = header ?? "{\"typ\":\"JWT\",\"alg\":\"\(name)\"\(id)}"
    let signed = "\(Self.encode(Array(header.utf8))).\(Self.encode(Array(claims.utf8)))"
    return "\(signed).\(Self.encode(try signature(of: Array(signed.utf8))))"
  }

  private func signature(of bytes: [UInt8]) throws -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: 512)
    if case .secret(let secret) = key {
      var length: UInt32 = 0
      HMAC(EVP_sha256(), Array(secret.utf8), Int32(secret.utf8.count), bytes, bytes.count, &signature, &length)
      return Array(signature.prefix(Int(length)))
    }
    let privateKey = Array(Self.rsaPrivateKey.utf8).withUnsafeBytes { text in
      let memory = BIO_new_mem_buf(text.baseAddress, Int32(text.count))
      defer { BIO_free(memory) }
      return PEM_read_bio_PrivateKey(memory, nil, nil, nil)
    }
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      EVP_PKEY_free(privateKey)
    }
    var parameters: OpaquePointer?
    var length = signature.count
    guard EVP_DigestSignInit(context, &parameters, EVP_sha256(), nil, privateKey) == 1,
      name == "RS256"
        || EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1
          && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1,
      EVP_DigestSign(context, &signature, &length, bytes, bytes.count) == 1
    else { throw CocoaError(.coderInvalidValue) }
    return Array(signature.prefix(length))
  }

  /// Base64url.
  package static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  package static let secret = "0123456789abcdef0123456789abcdef"

  /// HS256 with `secret`.
  package static func shared(_ secret: String = secret) -> TokenMaker {
    TokenMaker(name: "HS256", keyID: nil, key: .secret(secret))
  }

  /// - Parameter name: RS256 or PS256.
  package static func rsa(_ name: String = "RS256", keyID: String? = nil) -> TokenMaker {
    TokenMaker(name: name, keyID: keyID, key: .rsa)
  }

  /// The set of the RSA key, published under ids.
  package static func set(ids: [String], more: String = "") -> String {
    let keys = ids.map { "{\"kty\":\"RSA\",\"kid\":\"\($0)\",\"n\":\"\(modulus)\",\"e\":\"AQAB\"\(more)}" }
    return "{\"keys\":[\(keys.joined(separator: ","))]}"
  }

  package static let modulus =
    "3CUVA3TeesDGnxYIgX-03qKlXUe7OcAIyz-reG1x1VTPk5yS_3vKB0wAiAquHVLrxKA0TGiPcpLMmodAcbU4-E8ghI"
    + "lEicnxhcqYtUbdL7aG8ndm0GJHl6q-qXSbpbpGEg7wKt_5s6nPEehuH15hO_J4d0tqtC_l7a37YSlSp7IadXev-dfL"
    + "Ey0q48xsOYqQXVkZjuBOPmWnAeOPlFlaK9dtEKArueqTIW2VWuyq27tGA5bJvx0J_6DYfBQryuV83VVLr9DRXsw3OB"
    + "mcRldCLtMoZpOSxoTOw6S364x1hqHxGRLUMA_bS1JuAUsskRLokEIJqNq2VYtMuQJfiOxQrQ"

  /// A key for tests only, made with `openssl genrsa 2048`.
  package static let rsaPrivateKey = """
    -----BEGIN PRIVATE KEY-----
    MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDcJRUDdN56wMaf
    FgiBf7TeoqVdR7s5wAjLP6t4bXHVVM+TnJL/e8oHTACICq4dUuvEoDRMaI9yksya
    h0BxtTj4TyCEiUSJyfGFypi1Rt0vtobyd2bQYkeXqr6pdJulukYSDvAq3/mzqc8R
    6G4fXmE78nh3S2q0L+XtrfthKVKnshp1d6/518sTLSrjzGw5ipBdWRmO4E4+ZacB
    44+UWVor120QoCu56pMhbZVa7Krbu0YDlsm/HQn/oNh8FCvK5XzdVUuv0NFezDc4
    GZxGV0Iu0yhmk5LGhM7DpLfrjHWGofEZEtQwD9tLUm4BSyyREuiQQgmo2rZVi0y5
    Al+I7FCtAgMBAAECggEAF5MwCCX6kk41JwGyyP1uVt43k8D0A5f1SSDJIdUkmNoj
    fZUJp+rvhG8G6oqsQS8pWO3oE9upqvUeDJlZ1SN5VZwRqSfTC2dxIikDR/xuAOdM
    1cfkHoI71Pnfv6FhbrK/QL1RSmIgaTVQ28PWkSzoAEWz0WCl7WRovNaCIlJMy/Dj
    qtlo8QUR2A62999tknooIwu8jgajzY4emC9BJsrEFYzonmEUmXmByXaFVnBIORp4
    +20cQLsgYoAHRhzbF0FZYL6d482rmq7/9CiELjtTpF3oEHKeHm05UWYd3oYxbbxI
    Dn2AmeCOy7D+HA9NkLuJP7uttehEBHIU3zqi/H76wQKBgQDxOW1aHmtStaZ9IuHL
    iUvMtObqHOI/G621wcsWZDtQBj6Dw4VL58PKQ5MF2JvCMG9YE1ZfQiNqLlVOntKD
    SQ6qyOe1HcBWK9ZBlLNv/FPawqkPYbI2YfVef5iVBjLG08XLoXjjbdN3B10pmtaH
    TQgBiJr9Iqa73KHwBLeX4C/SQQKBgQDpoR0L1xB7WgyxGzCqDE/sF/7J7mNJhJsH
    iRJu9GPuy9tPcVGW7hj8rq26tSaLee2I4m7OrRwpxDQHVnQWpLZzv6OYeGICW7p4
    gnP1M2glqGKVdqAHhRgD5jblIJE/KBr+WHUflvEbehsVCKadE1fN6k0Erb6HAgXB
    qM+VFscLbQKBgQDhjT/Zdv4FDULKWTZlmVAd7bzIhQ9r0NahT740hq4LCnujustF
    iUVCN+MeIUaq0Z0a7qHhWjdBDmfHpqvSBBrJyCcX6+Su7jhdg8wwVvCVaVSoxEHd
    pcTHgmlKVsxdqyCUYbxmc4e6EVGkGFqlknp87J13OdJLcGaexdphEUfFwQKBgQCz
    aV588TNfBtAoUdEVRU8651Jqj/7/Pi4vozvcqSD1COfqIgOd/EqEAUC42NQ41/Fp
    5Tlizd2K1Xl/CQ0tNmBGkyx2sjvRw893K/cQneGkyaKrVOWf4L2IgQo2+sOP1KSm
    HhgToj6V8zdI99O7XFdZckyjAyoFU7BH//Mpcsx4IQKBgFoF0oygEOpxuwJ/3jG+
    Xj0kzezX3RxnGROgydsrw/kiSBJsI49SB+YrG+6Fwd2M8S3AUfQoF6/Rw4n44amF
    tAqMkc+fj5yhO4DWEI4mIaRnHQB3cUc3SSzXQLsrDExZ7uCwQSVgzyPJLfw8WzI2
    TVFOYL1tvHqtpzs5ZaciAPW7
    -----END PRIVATE KEY-----
    """

  package static let rsaPublicKey = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3CUVA3TeesDGnxYIgX+0
    3qKlXUe7OcAIyz+reG1x1VTPk5yS/3vKB0wAiAquHVLrxKA0TGiPcpLMmodAcbU4
    +E8ghIlEicnxhcqYtUbdL7aG8ndm0GJHl6q+qXSbpbpGEg7wKt/5s6nPEehuH15h
    O/J4d0tqtC/l7a37YSlSp7IadXev+dfLEy0q48xsOYqQXVkZjuBOPmWnAeOPlFla
    K9dtEKArueqTIW2VWuyq27tGA5bJvx0J/6DYfBQryuV83VVLr9DRXsw3OBmcRldC
    LtMoZpOSxoTOw6S364x1hqHxGRLUMA/bS1JuAUsskRLokEIJqNq2VYtMuQJfiOxQ
    rQIDAQAB
    -----END PUBLIC KEY-----
    """
}

/// A date that stands still until a test moves it.
package final class ManualDate: Sendable {
  private let seconds: Atomic<Int64>

  package init(_ seconds: Int64 = 1_800_000_000) { self.seconds = Atomic(seconds) }

  package var now: Int64 { seconds.load(ordering: .relaxed) }
  package var clock: WallClock { WallClock { self.now } }
  package func advance(seconds: Int64) { self.seconds.add(seconds, ordering: .relaxed) }
}

extension JWTConfiguration {
  /// The keys of a file's `jwt`.
  ///
  /// - Parameter files: name and content of the files in its folder.
  package static func reading(_ jwt: String, files: [String: String] = [:]) throws -> JWTConfiguration {
    let folder = try TemporaryFolder()
    for (name, content) in files {
      try content.write(toFile: folder.path(name), atomically: true, encoding: .utf8)
    }
    let file = try ConfigurationFile(yaml: "auth: {jwt: {\(jwt)}}", name: "x.yaml", folder: folder.path(""))
    return file.authentication!
  }

  package static func shared(_ more: String = "") throws -> JWTConfiguration {
    try reading("algorithm: HS256, secretFile: s\(more)", files: ["s": TokenMaker.secret + "\n"])
  }
}
