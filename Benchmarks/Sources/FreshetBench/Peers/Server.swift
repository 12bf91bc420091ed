import Foundation

/// The built command serving a file, as a process of its own.
final class Server {
  let child: Child
  let port: Int

  /// - Parameters:
  ///   - path: the database.
  ///   - states: where its state is kept; nil: nowhere.
  ///   - options: others of `freshet serve`.
  init(_ path: String, states: String? = nil, options: [String] = []) throws {
    setenv("FRESHET_STATE", states ?? "none", 1)
    // Measures how fast a connection can be served, without the default limit.
    setenv("FRESHET_MESSAGES_PER_SECOND", "0", 1)
    child = try Child(Programs.built("freshet"), ["serve", path, "--port", "0"] + options)
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
