#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// SIGTERM and SIGINT, and SIGHUP where it is for something: waited for by the main thread instead of interrupting whatever thread they hit.
struct TerminationSignals {
  private var signals = sigset_t()

  /// Blocks them for this thread and those that it makes from now on.
  ///
  /// - Parameter hangUp: whether SIGHUP is one of them; otherwise it ends the process, as when its terminal is closed.
  init(hangUp: Bool = false) {
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    if hangUp { sigaddset(&signals, SIGHUP) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// The first that ends the process. The next one ends it at once.
  ///
  /// - Parameter hangUp: called at every SIGHUP.
  func wait(hangUp: () -> Void) -> Int32 {
    var signals = signals
    var signal: Int32 = 0
    while sigwait(&signals, &signal) != 0 || signal == SIGHUP { hangUp() }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    return signal
  }

  /// Whether one of them has come and nobody has waited for it yet.
  var isPending: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1
  }

  /// Undoes the blocking in a process started by one that blocks: a child inherits it.
  static func unblock() {
    var signals = TerminationSignals(hangUp: true).signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
