import Foundation
import ServerSupport
import TestSupport
import Testing

/// A server that is started for a socket which listens already.
@Suite struct PassedSocketTests {
  /// A socket that listens on a free port of loopback.
  private static func listen() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && Foundation.listen(descriptor, 64) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    try #require(isListening)
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// Starts a program with a socket as its descriptor 3, as systemd does: LISTEN_PID is its own.
  private static func start(_ arguments: [String], passing descriptor: Int32) throws -> pid_t {
    let command =
      ["/bin/sh", "-c", #"LISTEN_PID=$$ LISTEN_FDS=1 FRESHET_STATE=none exec "$0" "$@""#, Program.path] + arguments
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, descriptor, 3)
    var words = command.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    try #require(posix_spawn(&process, "/bin/sh", &actions, nil, &words, environ) == 0)
    return process
  }

  @Test func `Who connected before the server was there is served`() throws {
    let folder = try ProgramFolder()
    let (descriptor, port) = try Self.listen()
    // It waits in the socket's queue.
    let early = try RawSocket(port: port)
    let process = try Self.start(["serve", folder.database, "--port", "1"], passing: descriptor)
    close(descriptor)
    defer {
      kill(process, SIGTERM)
      var status: Int32 = 0
      waitpid(process, &status, 0)
      #expect(status == 0)
    }
    #expect(try early.request("GET", "/readyz").status == 200)
    for _ in 0..<8 { #expect(try RawSocket(port: port).request("GET", "/v1/snapshot?from=t").status == 200) }
  }
}
