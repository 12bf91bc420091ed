import Foundation
import Ground

/// The listening socket that systemd passes to a service with socket activation (sd_listen_fds(3)).
enum PassedSocket {
  private static let first: Int32 = 3

  /// Nil: no socket was passed. Processes that this one starts do not see it.
  static func take() throws -> Int32? {
    let environment = ProcessInfo.processInfo.environment
    guard let count = environment["LISTEN_FDS"], environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid() else {
      return nil
    }
    guard count == "1" else { throw CommandFailure("systemd passes \(count) sockets: one is listened on") }
    unsetenv("LISTEN_PID")
    unsetenv("LISTEN_FDS")
    _ = fcntl(first, F_SETFD, FD_CLOEXEC)
    _ = fcntl(first, F_SETFL, fcntl(first, F_GETFL) | O_NONBLOCK)
    return first
  }
}
