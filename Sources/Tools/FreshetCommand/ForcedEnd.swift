import Foundation
import Logging
import Synchronization

/// Ends the process when it does not stop in time, whatever keeps it: a query, a transaction, a disk.
///
/// It ends as it does at a second signal, so that the waiting process sees which signal ended it.
///
/// Its thread is made at the start: making a new one may need what hangs (its first allocation may open files).
final class ForcedEnd: Sendable {
  /// Seconds, longer than an orderly end takes: `ServerConfiguration.grace` for transactions and again for clients.
  /// Docker kills after ten seconds.
  static let patience = 8

  private let signal = Mutex<Int32>(0)
  private let isScheduled = DispatchSemaphore(value: 0)

  init(_ logger: Logger) {
    Thread.detachNewThread { [self] in
      isScheduled.wait()
      let signal = signal.withLock { $0 }
      Thread.sleep(forTimeInterval: TimeInterval(Self.patience))
      // SIGALRM ends the process if writing the line below blocks, because no program reads the log.
      _ = Foundation.signal(SIGALRM, SIG_DFL)
      alarm(1)
      logger.critical("still not stopped after \(Self.patience) seconds: ended by force")
      _ = Foundation.signal(signal, SIG_DFL)
      TerminationSignals.unblock()
      raise(signal)
    }
  }

  func schedule(_ signal: Int32) {
    self.signal.withLock { $0 = signal }
    isScheduled.signal()
  }
}
