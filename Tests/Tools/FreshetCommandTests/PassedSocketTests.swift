import Foundation
import ServerSupport
import TestSupport
import Testing

/// A server that is started with a socket that listens already.
@Suite struct PassedSocketTests {
  /// Starts a program with a socket as its descriptor 3, as systemd does, with LISTEN_PID set to its own id.
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
    let listening = try ListeningPort()
    // This connection waits in the socket's queue.
    let early = try RawSocket(port: listening.port)
    let process = try Self.start(["serve", folder.database, "--port", "1"], passing: listening.descriptor)
    defer {
      kill(process, SIGTERM)
      var status: Int32 = 0
      waitpid(process, &status, 0)
      #expect(status == 0)
    }
    #expect(try early.request("GET", "/readyz").status == 200)
    for _ in 0..<8 { #expect(try RawSocket(port: listening.port).request("GET", "/v1/snapshot?from=t").status == 200) }
  }
}
