import COpenSSL
import Foundation
import LiveQuery
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Which tokens are accepted, and the identities that they give.
@Suite struct TokenVerifierTests {
  private let date = ManualDate()

  private func verdict(_ token: String, _ configuration: JWTConfiguration) -> Result<Identity, FreshetError> {
    guard case .fixed(let keys) = configuration.keys else { return .failure(.noRoom) }
    switch TokenVerifier(configuration, clock: date.clock).verify(token, keys) {
    case .good(let identity): return .success(identity)
    case .bad(let error): return .failure(error)
    case .unknownKey: return .failure(.unauthenticated("unknown key"))
    }
  }

  private func refusal(_ token: String, _ configuration: JWTConfiguration) -> String? {
    guard case .failure(let error) = verdict(token, configuration) else { return nil }
    #expect(error.code == .unauthenticated)
    return error.message
  }

  // MARK: - Algorithms

  /// Tokens of the subjects u and v that another implementation made.
  struct SignedTokens: Decodable, Sendable, CustomTestStringConvertible {
    let algorithm: String
    let secret: String?
    let pem: String?
    /// A JSON Web Key.
    let key: [String: String]?
    let tokens: [String]

    var testDescription: String { algorithm }

    static let all: [SignedTokens] = {
      struct File: Decodable { let cases: [SignedTokens] }
      do {
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: Fixtures.file("tokens.json"))).cases
      } catch { fatalError("Tests/Fixtures/tokens.json: \(error)") }
    }()

    func configuration(files: String) throws -> JWTConfiguration {
      try .reading("algorithm: \(algorithm), \(secret == nil ? "keys" : "secretFile"): k", files: ["k": files])
    }
  }

  @Test func `Every algorithm has tokens of another implementation`() {
    #expect(Set(SignedTokens.all.map(\.algorithm)) == Set(SignatureAlgorithm.allCases.map(\.rawValue)))
  }

  @Test(arguments: SignedTokens.all)
  func `A secret signs, and a key that is read from PEM or from a set`(signed: SignedTokens) throws {
    if let secret = signed.secret { return try check(signed.tokens, signed.configuration(files: secret)) }
    try check(signed.tokens, signed.configuration(files: try #require(signed.pem)))
    let key = try JSONEncoder().encode(#require(signed.key))
    let set = "{\"keys\":[\(String(decoding: key, as: UTF8.self))]}"
    try check(signed.tokens, signed.configuration(files: set))
    let algorithms = Set(["RS256", signed.algorithm]).joined(separator: ", ")
    try check(signed.tokens, .reading("algorithm: [\(algorithms)], keys: k", files: ["k": set]))
  }

  private func set(_ type: String, _ curve: String, _ point: (x: String, y: String)) -> String {
    #"{"keys":[{"kty":"\#(type)","crv":"\#(curve)","x":"\#(point.x)","y":"\#(point.y)"}]}"#
  }

  /// Checks that a token of the subject u is valid, and that it is not with another's claims or without a signature.
  private func check(_ tokens: [String], _ configuration: JWTConfiguration) throws {
    #expect(try verdict(tokens[0], configuration).get().subject == "u")
    let parts = tokens[0].split(separator: ".")
    let other = tokens[1].split(separator: ".")
    #expect(refusal("\(parts[0]).\(other[1]).\(parts[2])", configuration) == "the token's signature is wrong")
    #expect(refusal("\(parts[0]).\(parts[1]).", configuration) == "the token's signature is wrong")
  }

  /// RFC 7515, A.1 and A.3: tokens that others have made.
  @Test func `The examples of the RFC are good`() throws {
    let date = ManualDate(1_300_819_000)
    let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
    let shared = try TokenKeys.secret(Base64.decodeURL(secret[...])!, for: [.hs256])
    let first = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(claims).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let curve = try TokenKeys.set(
      json: set(
        "EC", "P-256",
        ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")),
      for: [.es256])
    let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    for (token, keys) in [(first, shared), ("eyJhbGciOiJFUzI1NiJ9.\(claims).\(signature)", curve)] {
      var configuration = JWTConfiguration(algorithms: [.hs256, .es256], keys: .fixed(keys))
      configuration.issuer = "joe"
      guard case .good(let identity) = TokenVerifier(configuration, clock: date.clock).verify(token, keys) else {
        Issue.record("\(token) is refused")
        continue
      }
      #expect(
        identity.claims == [
          "iss": .text("joe"), "exp": .integer(1_300_819_380), "http://example.com/is_root": .integer(1),
        ])
      #expect(identity.expires == 1_300_819_380 && identity.role == "anonymous" && identity.subject == nil)
    }
  }

  // MARK: - Forgeries

  @Test(arguments: ["none", "None", "NONE", "", "HS512", "RS256"])
  func `Another algorithm than those configured is refused, none above all`(name: String) async throws {
    let configuration = try JWTConfiguration.shared()
    let header = "{\"alg\":\"\(name)\"}"
    let token = try TokenMaker.shared().token(#"{"sub":"u"}"#, header: header)
    let sentence = "the token is not signed with an algorithm that this server takes"
    #expect(refusal(token, configuration) == sentence)
    let unsigned = token.split(separator: ".").prefix(2).joined(separator: ".") + "."
    #expect(refusal(unsigned, configuration) == sentence)
  }

  /// The public key is not a secret, so a token that is signed with its text as the secret must be refused.
  @Test(arguments: ["", "\n"])
  func `A token signed with the text of an RSA key as a secret is refused`(end: String) async throws {
    let configuration = try JWTConfiguration.reading(
      "algorithm: RS256, keys: k", files: ["k": TokenMaker.rsaPublicKey + "\n"])
    let maker = TokenMaker.shared(TokenMaker.rsaPublicKey + end)
    let sentence = "the token is not signed with an algorithm that this server takes"
    #expect(refusal(try maker.token("{}"), configuration) == sentence)
    #expect(
      refusal(try maker.token("{}", header: #"{"alg":"RS256"}"#), configuration) == "the token's signature is wrong")
  }

  @Test func `A key is for its own algorithm where it names one`() async throws {
    let set = TokenMaker.set(ids: ["a"], more: #","alg":"RS256""#)
    let configuration = try JWTConfiguration.reading("algorithm: [RS256, PS256], keys: k", files: ["k": set])
    #expect(refusal(try TokenMaker.rsa("RS256", keyID: "a").token("{}"), configuration) == nil)
    #expect(refusal(try TokenMaker.rsa("PS256", keyID: "a").token("{}"), configuration) == "unknown key")
  }

  @Test(
    arguments: [
      "", ".", "..", "a.b.c", "e30.e30", "e30.e30.e30.e30.e30", "e30.W10.", "e30=.e30.", "e3+.e30.", " e30.e30.", "\0",
    ])
  func `What is no token is refused`(text: String) throws {
    #expect(refusal(text, try .shared()) == "the token is no JSON Web Token" || text == "e30.W10.")
    #expect(refusal(text, try .shared()) != nil)
  }

  @Test func `Extensions that have to be understood, and endless tokens, are refused`() async throws {
    let maker = TokenMaker.shared()
    let critical = try maker.token("{}", header: #"{"alg":"HS256","crit":["b64"],"b64":false}"#)
    #expect(refusal(critical, try .shared()) == "the token has extensions that this server does not know")
    let long = try maker.token("{\"a\":\"\(String(repeating: "x", count: 16 << 10))\"}")
    #expect(refusal(long, try .shared()) == "the token is longer than 16384 bytes")
  }

  // MARK: - Keys

  /// Runs `openssl`.
  private static func openssl(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: printed, as: UTF8.self)
  }

  @Test func `A public key is read in both forms of PEM, and a private one in none`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("k.pem")
    try TokenMaker.rsaPrivateKey.write(toFile: path, atomically: true, encoding: .utf8)
    let old = try Self.openssl("rsa", "-in", path, "-RSAPublicKey_out")
    #expect(old.contains("BEGIN RSA PUBLIC KEY"))
    let tokens = try ["u", "v"].map { try TokenMaker.rsa().token("{\"sub\":\"\($0)\"}") }
    try check(tokens, .reading("algorithm: RS256, keys: k", files: ["k": old]))
    let ancient = try Self.openssl("rsa", "-in", path, "-traditional")
    for secret in [
      TokenMaker.rsaPrivateKey, ancient, "", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    ] {
      #expect(throws: ServerError.self) { try TokenKeys.file(secret + "\n", for: SignatureAlgorithm.allCases) }
    }
  }

  @Test func `A key that is too short, too long or of another kind is refused`() throws {
    for options in [
      ["RSA", "-pkeyopt", "rsa_keygen_bits:1024"], ["EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"], ["X25519"],
      ["ED448"],
    ] {
      let folder = try TemporaryFolder()
      let path = folder.path("k.pem")
      let process = try Process.run(
        URL(fileURLWithPath: "/usr/bin/env"),
        arguments: ["openssl", "genpkey", "-out", path, "-quiet", "-algorithm"] + options)
      process.waitUntilExit()
      let pem = try Self.openssl("pkey", "-in", path, "-pubout")
      #expect(pem.contains("BEGIN PUBLIC KEY"), "\(options)")
      #expect(throws: ServerError.self, "\(options)") { try TokenKeys.file(pem, for: SignatureAlgorithm.allCases) }
    }
  }

  @Test func `A JSON Web Key that is none is passed over`() throws {
    let modulus = TokenMaker.modulus
    let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    let curve = { (x: String, y: String) in #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"# }
    let zeros = String(repeating: "A", count: 43)
    let cases: [(key: String, isGood: Bool)] = [
      (curve(x, y), true), (curve(x + "=", y.replacing("_", with: "/")), true),
      (#"{"kty":"RSA","n":"\#(modulus)","e":"AQAB"}"#, true),
      (#"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"}"#, true),
      // Points off the curve, at infinity, and of other lengths.
      (curve(y, x), false), (curve(zeros, zeros), false), (curve("AA" + x, y), false),
      (curve(String(x.dropLast(2)), y), false),
      (curve("", ""), false), (curve("!" + x.dropFirst(), y), false),
      (#"{"kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)"}"#, false),
      (#"{"kty":"EC","crv":"Ed25519","x":"\#(x)","y":"\#(y)"}"#, false),
      (#"{"kty":"OKP","crv":"Ed25519","x":"\#(x.dropLast(2))"}"#, false),
      (#"{"kty":"OKP","crv":"P-256","x":"\#(x)"}"#, false),
      (#"{"kty":"RSA","n":"\#(modulus)","e":"AQ"}"#, false), (#"{"kty":"RSA","n":"\#(modulus)","e":"AQAA"}"#, false),
      (#"{"kty":"RSA","n":"\#(modulus)","e":""}"#, false), (#"{"kty":"RSA","n":"\#(modulus)"}"#, false),
      (#"{"kty":"RSA","n":"\#(modulus.prefix(100))","e":"AQAB"}"#, false), (#"{"kty":"RSA","e":"AQAB"}"#, false),
      (#"{"kty":"RSA","n":"\#(String(repeating: modulus, count: 10))","e":"AQAB"}"#, false),
      (#"{"kty":"oct","k":"\#(modulus)"}"#, false), (#"{"kty":"RSA","use":"enc","n":"\#(modulus)","e":"AQAB"}"#, false),
    ]
    for (key, isGood) in cases {
      let keys = try? TokenKeys.set(json: "{\"keys\":[\(key)]}", for: SignatureAlgorithm.allCases)
      #expect((keys != nil) == isGood, "\(key)")
    }
  }

  /// OpenSSL's own form of the signature is refused: it would turn one valid token into two.
  @Test func `A signature of a curve is two numbers, and nothing else`() async throws {
    let signed = try #require(SignedTokens.all.first { $0.algorithm == "ES256" })
    let configuration = try signed.configuration(files: try #require(signed.pem))
    let parts = signed.tokens[0].split(separator: ".").map(String.init)
    let pair = try #require(Base64.decodeURL(parts[2][...]))
    let integer = { (bytes: ArraySlice<UInt8>) in
      let number = Array(bytes.drop { $0 == 0 })
      let body = number[0] >= 0x80 ? [0] + number : number
      return [2, UInt8(body.count)] + body
    }
    let numbers = integer(pair[..<32]) + integer(pair[32...])
    let zeros = [UInt8](repeating: 0, count: 64)
    for signature in [[0x30, UInt8(numbers.count)] + numbers, pair + [0], pair.dropLast(), zeros, []] {
      let token = "\(parts[0]).\(parts[1]).\(TokenMaker.encode(Array(signature)))"
      #expect(refusal(token, configuration) == "the token's signature is wrong", "\(signature.count)")
    }
    #expect(refusal(parts.joined(separator: "."), configuration) == nil)
  }

  @Test func `What is wrong with a token or a key leaves nothing for TLS to find`() async throws {
    let keys = try TokenKeys.file(TokenMaker.rsaPublicKey, for: [.rs256, .ps256])
    for algorithm in [SignatureAlgorithm.rs256, .ps256] {
      let verifier = try #require(keys.verifiers(for: algorithm, id: nil).first)
      for length in [0, 255, 256, 257] {
        #expect(!verifier.verifies([UInt8](repeating: 1, count: length), of: [1, 2, 3]))
        #expect(ERR_peek_error() == 0)
      }
    }
    #expect(throws: ServerError.self) { try TokenKeys.file("-----BEGIN PUBLIC KEY-----\nAAAA\n", for: [.rs256]) }
    #expect(throws: ServerError.self) {
      try TokenKeys.set(json: #"{"keys":[{"kty":"RSA","n":"","e":""}]}"#, for: [.rs256])
    }
    #expect(ERR_peek_error() == 0)
  }

  // MARK: - Claims

  @Test func `Issuer and audience are checked where they are configured`() async throws {
    let maker = TokenMaker.shared()
    let strict = try JWTConfiguration.shared(", issuer: shop, audience: freshet")
    let issuer = "the token is not of the issuer that this server trusts"
    let audience = "the token is not for this server"
    let cases: [(String, String?)] = [
      (#"{"iss":"shop","aud":"freshet"}"#, nil), (#"{"iss":"shop","aud":["x","freshet"]}"#, nil),
      (#"{"aud":"freshet"}"#, issuer), (#"{"iss":"Shop","aud":"freshet"}"#, issuer),
      (#"{"iss":["shop"],"aud":"freshet"}"#, issuer), (#"{"iss":"shop"}"#, audience),
      (#"{"iss":"shop","aud":"freshets"}"#, audience), (#"{"iss":"shop","aud":["x"]}"#, audience),
      (#"{"iss":"shop","aud":{"freshet":1}}"#, audience),
    ]
    for (claims, expected) in cases {
      #expect(refusal(try maker.token(claims), strict) == expected, "\(claims)")
      #expect(refusal(try maker.token(claims), try .shared()) == nil, "\(claims)")
    }
  }

  @Test func `A token is good from 30 seconds before its start to 30 seconds after its end`() async throws {
    let maker = TokenMaker.shared()
    let now = date.now
    let cases: [(String, String?)] = [
      ("{\"exp\":\(now - 29)}", nil), ("{\"exp\":\(now - 30)}", "the token has expired"),
      ("{\"exp\":\(now - 31).5}", "the token has expired"), ("{\"exp\":0}", "the token has expired"),
      ("{\"exp\":-1e300}", "the token's exp is no time"), ("{\"exp\":9223372036854775807}", nil), ("{}", nil),
      ("{\"exp\":\"\(now + 60)\"}", "the token's exp is no time"), ("{\"exp\":null}", "the token's exp is no time"),
      ("{\"nbf\":\(now + 30)}", nil), ("{\"nbf\":\(now + 31)}", "the token is not valid yet"),
      ("{\"nbf\":-9223372036854775808}", nil), ("{\"nbf\":true}", "the token's nbf is no time"),
    ]
    for (claims, expected) in cases {
      #expect(refusal(try maker.token(claims), try .shared()) == expected, "\(claims)")
    }
    let token = try maker.token("{\"exp\":\(now + 10)}")
    date.advance(seconds: 39)
    #expect(try verdict(token, .shared()).get().expires == now + 10)
    date.advance(seconds: 1)
    #expect(refusal(token, try .shared()) == "the token has expired")
  }

  @Test func `Every claim is a value for SQLite`() async throws {
    let claims = #"""
      {"sub":"u1","role":"clerk","n":-5,"big":9007199254740993,"r":1.5,"yes":true,"no":false,"nil":null,
       "list":["a",{"b":2}],"object":{"z":1,"a":"é\"\n"},"Name":"Zoë","":"empty"}
      """#
    let identity = try verdict(try TokenMaker.shared().token(claims), .shared()).get()
    #expect(identity.subject == "u1" && identity.role == "clerk" && identity.expires == nil)
    #expect(
      identity.claims == [
        "sub": .text("u1"), "role": .text("clerk"), "n": .integer(-5), "big": .integer(9_007_199_254_740_993),
        "r": .real(1.5), "yes": .integer(1), "no": .integer(0), "nil": .null, "list": .text(#"["a",{"b":2}]"#),
        "object": .text(#"{"a":"é\"\n","z":1}"#), "Name": .text("Zoë"), "": .text("empty"),
      ])
  }

  @Test func `The role is the claim that the configuration names, and anonymous without it`() async throws {
    let maker = TokenMaker.shared()
    let configuration = try JWTConfiguration.shared(", role: https://shop.example/role")
    let role = { (claims: String) in try verdict(try maker.token(claims), configuration).get().role }
    #expect(try role(#"{"https://shop.example/role":"clerk","role":"boss"}"#) == "clerk")
    #expect(try role(#"{"role":"boss"}"#) == "anonymous")
    #expect(try role(#"{"https://shop.example/role":null}"#) == "anonymous")
    for claims in [#"{"role":["boss"]}"#, #"{"role":1}"#] {
      #expect(refusal(try maker.token(claims), try .shared()) == "the token's role is no text")
    }
    #expect(refusal(try maker.token(#"{"sub":1}"#), try .shared()) == "the token's sub is no text")
  }

  @Test func `Whoever has the same subject, role and claims sees the same, whatever the token's dates`() async throws {
    let maker = TokenMaker.shared()
    let identity = { (claims: String) in try verdict(try maker.token(claims), .shared()).get() }
    let first = try identity(#"{"sub":"u","role":"r","shop":1,"iat":1,"nbf":1,"jti":"a"}"#)
    let renewed = try identity(#"{"sub":"u","role":"r","shop":1,"iat":2,"nbf":2,"jti":"b","exp":1900000000}"#)
    #expect(renewed.sees(theSameAs: first) && first != renewed)
    for other in [
      #"{"sub":"v","role":"r","shop":1}"#, #"{"sub":"u","role":"s","shop":1}"#, #"{"sub":"u","role":"r","shop":2}"#,
      #"{"sub":"u","role":"r"}"#, #"{"sub":"u","role":"r","shop":1,"more":null}"#,
    ] {
      #expect(!(try identity(other)).sees(theSameAs: first), "\(other)")
    }
  }
}
