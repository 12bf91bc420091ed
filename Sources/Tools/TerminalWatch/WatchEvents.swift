import Foundation
import FreshetRemote

/// Events of a watched list, from any source.
enum WatchEvent: Sendable {
  case keys([UInt8])
  case resized
  case terminated
  /// A connection is open.
  case connected
  case disconnected(String)
  case replaced(Rows)
  case patched(ResultsPatch, from: Rows, to: Rows)
  /// The list is out of date, and retried automatically; nil: it is up to date again.
  case delayed(FreshetError?)
  /// Continuing is useless, for this reason.
  case failed(String)
}

/// Takes keys and signals, from threads of their own.
struct OutsideEvents {
  let events: AsyncStream<WatchEvent>.Continuation

  /// From now on SIGINT, SIGTERM, SIGHUP and SIGWINCH arrive as events. To be called before other threads are made,
  /// because threads inherit blocked signals.
  func watchSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGWINCH] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Thread.detachNewThread { [events, signals] in
      var signals = signals
      while true {
        var signal: Int32 = 0
        if sigwait(&signals, &signal) == 0 { events.yield(signal == SIGWINCH ? .resized : .terminated) }
      }
    }
  }

  /// Reads keys until the end of the input.
  func watchKeys() {
    Thread.detachNewThread { [events] in
      var buffer = [UInt8](repeating: 0, count: 256)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return }
        events.yield(.keys(Array(buffer[..<count])))
      }
    }
  }
}
