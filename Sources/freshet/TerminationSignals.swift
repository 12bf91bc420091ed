#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// SIGTERM and SIGINT, waited for by the main thread instead of interrupting whatever thread they hit.
struct TerminationSignals {
  private var signals = sigset_t()

  /// Blocks them for this thread and those that it makes from now on.
  init() {
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// The first of them. The next one ends the process at once.
  func wait() -> Int32 {
    var signals = signals
    var signal: Int32 = 0
    sigwait(&signals, &signal)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    return signal
  }

  /// Undoes the blocking in a process started by one that blocks: a child inherits it.
  static func unblock() {
    var signals = TerminationSignals().signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
