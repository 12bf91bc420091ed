import Foundation
import Store

extension DemoWriter {
  /// Writes so many transactions a second, unless another writer of the file does, until standard input ends or SIGTERM
  /// or SIGINT comes.
  ///
  /// The process that starts this one keeps the other end of its standard input and never writes to it: whatever ends
  /// that process, `kill -9` included, also ends this one. (Linux's `PR_SET_PDEATHSIG` would do the same, but follows
  /// the thread that forked, not the process.)
  ///
  /// - Parameter writesPerSecond: 0 writes nothing.
  package static func run(path: String, writesPerSecond: Double, seed: UInt64, target: Int? = nil) throws {
    // A parent that handles signals by other means leaves them ignored or blocked in its children.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGTERM, SIGINT] {
      signal(number, SIG_DFL)
      sigaddset(&signals, number)
    }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)

    let connection = try Connection(path, .writing, patience: 10_000)
    try connection.run("PRAGMA foreign_keys = ON")
    let checkpoint = GuardedCheckpoint(for: connection.raw, path: path, patience: 10_000)
    defer { withExtendedLifetime(connection) { checkpoint.close() } }
    let turn = WriterTurn(path: path)
    // Made when this demo's turn comes, because it counts the present rows.
    var writer: DemoWriter?
    let clock = ContinuousClock()
    let pause = writesPerSecond > 0 ? Duration.seconds(1 / writesPerSecond) : Duration.seconds(3600)
    var due = clock.now
    while true {
      // The pause counts from when the transaction was due, not from its end, so that the rate is kept. A delay of more
      // than one pause is not made up for.
      due = max(due + pause, clock.now - pause)
      guard waitForEndOfInput(until: due, clock) == false else { return }
      if writesPerSecond > 0, turn.isOurs {
        var current = try writer ?? DemoWriter(connection, seed: seed, target: target)
        _ = try connection.transaction { try current.write(connection) }
        writer = current
        checkpoint.runIfDue()
      }
    }
  }

  /// Sleeps; true as soon as standard input ends.
  private static func waitForEndOfInput(until due: ContinuousClock.Instant, _ clock: ContinuousClock) -> Bool {
    while true {
      let left = due - clock.now
      let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      let count = poll(&input, 1, Int32(clamping: max(milliseconds, 0)))
      if count == 0 { return false }
      if count < 0, errno != EINTR { return true }
      if count > 0, input.revents != 0 {
        var ignored: [UInt8] = Array(repeating: 0, count: 64)
        if read(STDIN_FILENO, &ignored, ignored.count) <= 0 { return true }
      }
    }
  }
}
