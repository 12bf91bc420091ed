import Foundation
import ServerSupport
import TestSupport
import Testing

@testable import Server

/// `auth` in `freshet.yaml`.
@Suite struct AuthenticationFileTests {
  @Test func `What is said is read`() throws {
    let configuration = try JWTConfiguration.reading(
      "algorithm: [HS256], secretFile: ./s, issuer: shop, audience: freshet, role: r",
      files: ["s": TokenMaker.secret])
    #expect(configuration.algorithms == [.hs256] && configuration.roleClaim == "r")
    #expect(configuration.issuer == "shop" && configuration.audience == "freshet")
    let plain = try JWTConfiguration.shared()
    #expect(plain.roleClaim == "role" && plain.issuer == nil && plain.audience == nil)
    let published = try JWTConfiguration.reading("algorithm: [RS256, EdDSA], keys: 'https://a.example/jwks.json'")
    guard case .published("https://a.example/jwks.json") = published.keys else {
      Issue.record("\(published.keys)")
      return
    }
    #expect(published.algorithms == [.rs256, .edDSA])
    #expect(try ConfigurationFile(yaml: "auth:", name: "x.yaml").authentication == nil)
  }

  @Test func `A secret may be in the environment`() throws {
    let place = { (variable: String) in
      try ConfigurationFile(
        yaml: "auth: {jwt: {algorithm: HS256, secretVariable: \(variable)}}", name: "x.yaml",
        environment: ["GOOD": TokenMaker.secret, "SHORT": "x", "EMPTY": ""])
    }
    #expect(try place("GOOD").authentication != nil)
    for (name, sentence) in [
      ("SHORT", "has 1 bytes: a secret for HS256 has 32 at least"),
      ("EMPTY", "names the environment variable EMPTY, which is not set"),
      ("NONE", "names the environment variable NONE, which is not set"),
    ] {
      #expect {
        try place(name)
      } throws: {
        "\($0)" == "x.yaml, line 1: auth.jwt.secretVariable \(sentence)"
      }
    }
  }

  /// The setting `jwt`, next to files with secrets and keys; the place of the error, and its sentence.
  @Test(
    arguments: [
      ("algorithm: HS256", "auth.jwt has no secretFile, secretVariable or keys"),
      ("secretFile: s", "auth.jwt has no algorithm"), ("algorithm: [], secretFile: s", "auth.jwt has no algorithm"),
      (
        "algorithm: none, secretFile: s",
        "auth.jwt.algorithm must be one or more of HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, "
          + "ES256, ES384, ES512, EdDSA"
      ),
      ("algorithm: HS256, secretFile: s, issuers: x", "auth.jwt.issuers is unknown: did you mean issuer?"),
      (
        "algorithm: HS256, secretFile: s, color: x",
        "auth.jwt.color is unknown: jwt has algorithm, secretFile, secretVariable, keys, issuer, audience and role"
      ),
      ("algorithm: HS256, secretFile: s, keys: rsa", "auth.jwt.keys cannot be there together with secretFile"),
      (
        "algorithm: HS256, keys: rsa",
        "auth.jwt.keys is not for HS256, which takes a secret (secretFile or secretVariable)"
      ),
      (
        "algorithm: [RS256, HS256], keys: rsa",
        "auth.jwt.keys is not for HS256, which takes a secret (secretFile or secretVariable)"
      ),
      ("algorithm: RS256, secretFile: s", "auth.jwt.secretFile is not for RS256, which takes public keys (keys)"),
      ("algorithm: HS384, secretFile: s", "auth.jwt.secretFile has 32 bytes: a secret for HS384 has 48 at least"),
      ("algorithm: HS512, secretFile: s", "auth.jwt.secretFile has 32 bytes: a secret for HS512 has 64 at least"),
      ("algorithm: HS256, secretFile: short", "auth.jwt.secretFile has 31 bytes: a secret for HS256 has 32 at least"),
      ("algorithm: ES256, keys: rsa", "auth.jwt.keys holds a key of another kind than ES256 takes"),
      (
        "algorithm: RS256, keys: s",
        "auth.jwt.keys holds neither a public key (PEM; RSA from 2048 bits, P-256, P-384, P-521, Ed25519) nor a JSON Web Key Set"
      ),
      (
        "algorithm: RS256, keys: private",
        "auth.jwt.keys holds neither a public key (PEM; RSA from 2048 bits, P-256, P-384, P-521, Ed25519) nor a JSON Web Key Set"
      ),
      ("algorithm: ES256, keys: set", "auth.jwt.keys has no key for ES256"),
      ("algorithm: RS256, keys: empty", "auth.jwt.keys is no JSON Web Key Set: {\"keys\": […]}"),
      ("algorithm: RS256, keys: 'http://a.example/jwks.json'", "auth.jwt.keys must be a file or an https address"),
      ("algorithm: RS256, keys: 'https://u:p@a.example/'", "auth.jwt.keys must be a file or an https address"),
    ])
  func `A mistake is one sentence with its place`(jwt: String, sentence: String) throws {
    let files = [
      "s": TokenMaker.secret + "\r\n", "short": String(TokenMaker.secret.dropLast()) + "\n", "empty": "{}",
      "rsa": TokenMaker.rsaPublicKey, "private": TokenMaker.rsaPrivateKey, "set": TokenMaker.set(ids: ["a"]),
    ]
    #expect {
      try JWTConfiguration.reading(jwt, files: files)
    } throws: {
      "\($0)" == "x.yaml, line 1: \(sentence)"
    }
  }

  @Test func `What is not there is said with its path, and stops the command`() throws {
    let folder = try ProgramFolder()
    let path = folder.path + "/freshet.yaml"
    let yaml = "auth:\n  jwt:\n    algorithm: HS256\n    secretFile: nosuch.txt\n"
    try yaml.write(toFile: path, atomically: true, encoding: .utf8)
    let wrong = try Program.run("serve", folder.database, "--config", path)
    let sentence = "auth.jwt.secretFile cannot be read: \(folder.path)/nosuch.txt"
    #expect(wrong.status == 1 && wrong.errors == "Error: \(path), line 4: \(sentence)\n")
    for yaml in ["auth: {}", "auth: {basic: x}", "auth: x"] {
      #expect(throws: ServerError.self) { try ConfigurationFile(yaml: yaml, name: "x.yaml") }
    }
  }
}
