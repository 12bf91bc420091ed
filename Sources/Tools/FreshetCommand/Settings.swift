import Following
import Foundation
import Server

/// The settings of environment variables and the configuration file.
struct Settings {
  var file = ConfigurationFile()

  /// The configuration file named by the flag, or by FRESHET_CONFIG.
  static func file(_ flag: String?) throws -> ConfigurationFile {
    guard let path = flag ?? Settings().text("FRESHET_CONFIG") else { return ConfigurationFile() }
    do { return try ConfigurationFile(path: path) } catch { throw CommandFailure("\(error)") }
  }

  /// A variable that is set and not empty.
  func text(_ variable: String) -> String? { Variables.text(variable) }

  func flag(_ variable: String) throws -> Bool? {
    guard let text = text(variable) else { return nil }
    guard let value = ["1": true, "true": true, "0": false, "false": false][text] else {
      throw CommandFailure("\(variable) must be true or false")
    }
    return value
  }

  func port() throws -> Int? {
    // Kubernetes sets a variable of this name to `tcp://…` if a service is called freshet.
    guard let text = text("FRESHET_PORT"), !text.hasPrefix("tcp://") else { return file.port }
    guard let port = Int(text), (0...65_535).contains(port) else {
      throw CommandFailure("FRESHET_PORT must be 0 to 65535")
    }
    return port
  }

  func selfCheck() throws -> SelfCheckMode? {
    guard let text = text("FRESHET_SELF_CHECK") else { return file.selfCheck }
    guard let mode = SelfCheckMode(rawValue: text) else {
      throw CommandFailure("FRESHET_SELF_CHECK must be off, idle or always")
    }
    return mode
  }

  func limit(_ limit: LimitSetting) throws -> Int? {
    guard let text = text(limit.variable) else { return file.limits[limit] }
    guard let value = limit.parse(text) else { throw CommandFailure("\(limit.variable) must be \(limit.expectation)") }
    return value
  }

  /// The values of a flag that can be repeated, or of a variable; nil if neither is given.
  ///
  /// - Parameter mistake: the error in one of them.
  func list(
    _ flags: [String], _ flag: String, _ variable: String, _ mistake: (String) -> String?
  ) throws -> [String]? {
    guard let list = flags.isEmpty ? list(variable) : flags else { return nil }
    for text in list {
      if let mistake = mistake(text) { throw CommandFailure("\(flags.isEmpty ? variable : flag): \(text) \(mistake)") }
    }
    return list
  }

  /// Comma-separated.
  func list(_ variable: String) -> [String]? {
    text(variable)?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
