import Ground

/// SIGTERM, SIGINT and SIGHUP: waited for by the main thread instead of interrupting whatever thread they hit.
struct TerminationSignals {
  private var signals = sigset_t()

  /// Blocks them for this thread and those that it makes from now on.
  init() {
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// The first that ends the process. The next one ends it at once, but for SIGHUP.
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

  /// Undoes the blocking in a process started by one that blocks: a child inherits it.
  static func unblock() {
    var signals = TerminationSignals().signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
