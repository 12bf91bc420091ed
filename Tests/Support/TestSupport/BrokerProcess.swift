import Foundation

/// A nats-server of a test's own, on a free port, with its storage in a folder.
package final class BrokerProcess {
  private var process = Process()
  private let storage: String
  package let port: Int

  /// Debian installs it in a folder that ordinary users' PATH lacks.
  private static let executable = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"]
    .first(where: FileManager.default.isExecutableFile)

  /// Whether nats-server is installed; without it, tests are skipped.
  package static var isInstalled: Bool { executable != nil }

  package init(storage: String) throws {
    self.storage = storage
    port = try Self.freePort()
    try start()
  }

  deinit { kill() }

  package func url(_ stream: String) -> String { "nats://127.0.0.1:\(port)/\(stream)" }

  package func start() throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: Self.executable ?? "/usr/sbin/nats-server")
    process.arguments = ["-js", "-sd", storage, "-a", "127.0.0.1", "-p", "\(port)"]
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  /// Ends the process like kill -9.
  package func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  package func signal(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

  package func deleteStorage() throws { try FileManager.default.removeItem(atPath: storage) }

  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { address in
      try address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(descriptor, address, size) == 0, getsockname(descriptor, address, &size) == 0 else {
          throw CocoaError(.fileNoSuchFile)
        }
      }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
