import Foundation
import Logging

/// Ends the process when it does not stop in time, whatever keeps it: a query, a transaction, a disk.
///
/// It ends as it does at a second signal, so that the waiting process sees which signal ended it.
enum ForcedEnd {
  /// Longer than an orderly end takes: `ServerConfiguration.grace` for transactions and again for clients. Docker kills after ten
  /// seconds.
  static let patience = 8

  /// From a thread of its own, which nothing that hangs can hold up.
  static func schedule(_ signal: Int32, _ logger: Logger) {
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: TimeInterval(patience))
      // In case the log is not read.
      _ = Foundation.signal(SIGALRM, SIG_DFL)
      alarm(1)
      logger.critical("still not stopped after \(patience) seconds: ended by force")
      _ = Foundation.signal(signal, SIG_DFL)
      TerminationSignals.unblock()
      raise(signal)
    }
  }
}
