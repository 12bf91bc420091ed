import Foundation

/// The built command serving a file, as a process of its own.
final class Server {
  let child: Child
  let port: Int

  /// - Parameters:
  ///   - path: the database.
  ///   - isTracked: whether the change capture is installed first.
  init(_ path: String, isTracked: Bool = true) throws {
    let arguments = ["serve", path, "--port", "0"] + (isTracked ? ["--track"] : [])
    child = try Child(Programs.built("freshet"), arguments)
    let deadline = now() + 60_000_000_000
    while true {
      if let match = child.logText.firstMatch(of: /:(\d+)\/\n/), let port = Int(match.1) {
        self.port = port
        return
      }
      if now() > deadline || !child.isRunning { throw child.failure("does not listen") }
      usleep(5_000)
    }
  }

  func stop() { child.stop() }

  /// Nanoseconds of all threads so far.
  var cpu: Int { child.cpu }

  /// Resident bytes.
  var memory: Int { child.memory }
}
