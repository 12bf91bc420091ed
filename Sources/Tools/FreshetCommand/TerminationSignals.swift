import Ground

/// SIGTERM, SIGINT and SIGHUP: the main thread waits for them, so that they interrupt no other thread.
struct TerminationSignals {
  private var signals = sigset_t()

  /// Blocks the signals for this thread and the threads that it makes from now on.
  init() {
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Waits for the first signal that ends the process. The next one, except SIGHUP, ends it at once.
  ///
  /// - Parameter hangUp: called at every SIGHUP, which ends nothing.
  func wait(hangUp: () -> Void) -> Int32 {
    var signals = signals
    var signal: Int32 = 0
    while sigwait(&signals, &signal) != 0 || signal == SIGHUP { hangUp() }
    sigdelset(&signals, SIGHUP)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    return signal
  }

  /// Whether one of them has come and was not waited for yet.
  var isPending: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return [SIGTERM, SIGINT, SIGHUP].contains { sigismember(&pending, $0) == 1 }
  }

  /// Unblocks the signals in a child process, which inherits the blocking.
  static func unblock() {
    var signals = TerminationSignals().signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
