import Foundation
import LiveQuery
import Server

/// The environment variables that the command reads.
enum Variables {
  static let names =
    [
      "DATABASE", "CONFIG", "HOST", "PORT", "PUBLIC", "TLS_CERT", "TLS_KEY", "TRUSTED_PROXIES", "METRICS_ADDRESS",
      "ALLOW_WRITES", "ALLOW_QUERIES", "ALLOW_EVERYONE_TO_READ_AND_WRITE", "ALLOWED_ORIGINS", "ALLOWED_HOSTS",
      "SELF_CHECK", "STATE", "ACCESS_LOG", "AUDIT_LOG", "PUBLISH", "REPLICATE", "TOKEN", "CACHE",
    ].map { prefix + $0 } + LimitSetting.allCases.map(\.variable)

  private static let prefix = "FRESHET_"

  /// A variable that is set and not empty.
  static func text(_ name: String) -> String? {
    assert(names.contains(name), "\(name) is not among the variables that are known")
    return ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Variables that begin with FRESHET_ and are not settings.
  ///
  /// - Throws: if a name is probably misspelt. Other unknown names can have another origin: Kubernetes names the
  ///   addresses of services that way.
  static func unknown(in environment: [String: String] = ProcessInfo.processInfo.environment) throws -> [String] {
    let unknown = environment.keys.filter { $0.hasPrefix(prefix) && !names.contains($0) }.sorted()
    for name in unknown {
      // The common prefix must not count for the similarity of two names.
      let word = String(name.dropFirst(prefix.count))
      if let meant = Spelling.nearest(to: word, of: names.map { $0.dropFirst(prefix.count) }.map(String.init)) {
        throw CommandFailure("\(name) is not a setting: did you mean \(prefix)\(meant)?")
      }
    }
    return unknown
  }
}
