import Foundation

extension JWTConfiguration {
  /// Reads the setting `auth`.
  ///
  /// - Parameter environment: where a secret may be.
  init(_ place: YAMLPlace, _ environment: [String: String]) throws(ServerError) {
    var settings: YAMLPlace?
    for (name, value) in try place.members() {
      guard name == "jwt" else { throw value.error("is unknown: auth has jwt") }
      settings = value
    }
    guard let settings else { throw place.error("has no jwt") }
    try self.init(jwt: settings, environment)
  }

  private init(jwt place: YAMLPlace, _ environment: [String: String]) throws(ServerError) {
    var algorithms: [SignatureAlgorithm] = []
    var source: (name: String, value: YAMLPlace)?
    self.init(algorithms: [], keys: .fixed(TokenKeys()))
    for (name, value) in try place.members() {
      switch name {
      case "algorithm": algorithms = try Self.algorithms(value)
      case "issuer": issuer = try value.text()
      case "audience": audience = try value.text()
      case "role": roleClaim = try value.text()
      case "secretFile", "secretVariable", "keys":
        if let source { throw value.error("cannot be there together with \(source.name)") }
        source = (name, value)
      default:
        throw value.unknown(
          name, "jwt has", ["algorithm", "secretFile", "secretVariable", "keys", "issuer", "audience", "role"])
      }
    }
    if algorithms.isEmpty { throw place.error("has no algorithm") }
    guard let (name, value) = source else { throw place.error("has no secretFile, secretVariable or keys") }
    for algorithm in algorithms where algorithm.takesSecret != (name != "keys") {
      let wanted = algorithm.takesSecret ? "a secret (secretFile or secretVariable)" : "public keys (keys)"
      throw value.error("is not for \(algorithm.rawValue), which takes \(wanted)")
    }
    self.algorithms = algorithms
    keys = try Self.keys(name, value, algorithms, environment)
  }

  /// Reads one algorithm, or a list of them.
  private static func algorithms(_ place: YAMLPlace) throws(ServerError) -> [SignatureAlgorithm] {
    var algorithms: [SignatureAlgorithm] = []
    for name in try place.textOrTexts() {
      guard let algorithm = SignatureAlgorithm(rawValue: name) else {
        let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
        throw place.error("must be one or more of \(known)")
      }
      algorithms.append(algorithm)
    }
    return algorithms
  }

  private static func keys(
    _ setting: String, _ place: YAMLPlace, _ algorithms: [SignatureAlgorithm], _ environment: [String: String]
  ) throws(ServerError) -> Keys {
    let (text, path) = (try place.text(), try place.filePath())
    do throws(ServerError) {
      switch setting {
      case "secretVariable":
        guard let secret = environment[text], !secret.isEmpty else {
          throw ServerError("names the environment variable \(text), which is not set")
        }
        return .fixed(try TokenKeys.secret(Array(secret.utf8), for: algorithms))
      case "secretFile": return .fixed(try TokenKeys.secret(try secret(inFile: path), for: algorithms))
      default:
        if text.contains("://") { return .published(try address(text)) }
        guard let content = String(data: try contents(path), encoding: .utf8) else { throw ServerError("is not UTF-8") }
        return .fixed(try TokenKeys.file(content, for: algorithms))
      }
    } catch {
      throw place.error(error.description)
    }
  }

  /// Editors end the last line of a file: one line end is not part of the secret.
  private static func secret(inFile path: String) throws(ServerError) -> [UInt8] {
    var bytes = Array(try contents(path))
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    return bytes
  }

  private static func contents(_ path: String) throws(ServerError) -> Data {
    guard let data = FileManager.default.contents(atPath: path) else { throw ServerError("cannot be read: \(path)") }
    return data
  }

  /// The address must be https, because an attacker who can change keys on their way here can make tokens.
  private static func address(_ text: String) throws(ServerError) -> String {
    guard let url = URL(string: text), url.scheme?.lowercased() == "https", url.host?.isEmpty == false,
      url.user == nil, url.password == nil
    else { throw ServerError("must be a file or an https address") }
    return text
  }
}
