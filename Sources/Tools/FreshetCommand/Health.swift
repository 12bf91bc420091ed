import ArgumentParser
import Foundation
import Server

struct Health: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check whether a server is healthy.",
    discussion: """
      freshet health
      freshet health https://lists.example.com/readyz
      freshet health https://127.0.0.1:8443/healthz --ca ca.pem

      Without an address it asks the server that FRESHET_ variables and the configuration file set up on this machine, at its address \
      for metrics where it has one, with TLS where it has a certificate, whatever name is in that. The exit status is 0 when the answer \
      is 200. For health checks in containers without curl.
      """)

  @Argument(help: "The address to ask. (default: /healthz of this machine's server)")
  var url: String?

  @OptionGroup var trust: TrustOptions

  @Option(help: ArgumentHelp("The configuration file of this machine's server.", valueName: "file"))
  var config: String?

  func run() throws {
    let address = try url ?? ownAddress()
    guard let parts = URLComponents(string: address), ["http", "https"].contains(parts.scheme), let host = parts.host
    else {
      throw ValidationError("\(address) is no http or https address.")
    }
    do throws(ServerConnection.Failure) {
      let connection = try ServerConnection(
        parts, trusting: url == nil ? .anyone : .authorities(trust.ca), patience: 3)
      let answer = connection.get(parts.path.isEmpty ? "/" : parts.path, host: host, limit: 1_024)
      if answer.isOK { return }
      let status = answer.status
      throw .init(sentence: status.isEmpty ? "no answer from \(address)" : "\(address) answers \(status)")
    } catch { throw CommandFailure(error.sentence) }
  }

  private func ownAddress() throws -> String {
    let settings = Settings(file: try Settings.file(config))
    let door = try DoorOptions.settingsWithoutFlags(settings)
    if let metrics = door.metrics { return "http://\(Self.reached(metrics.host)):\(metrics.port)/healthz" }
    let host = Self.reached(settings.text("FRESHET_HOST") ?? settings.file.host ?? "127.0.0.1")
    return "\(door.certificate == nil ? "http" : "https")://\(host):\(try settings.port() ?? 8_080)/healthz"
  }

  /// The address at which a server is reached that listens at a host: one that listens at all addresses is reached on
  /// loopback.
  private static func reached(_ host: String) -> String {
    switch host {
    case "0.0.0.0": "127.0.0.1"
    case "::": "[::1]"
    case let host where host.contains(":"): "[\(host)]"
    default: host
    }
  }
}
