import Foundation
import Synchronization

/// What comes from outside of the socket: keys, signals, time.
enum OutsideEvent: Sendable {
  case keys([UInt8])
  case resized
  case terminated
}

/// Takes events from any thread to the one that runs the socket.
final class OutsideEvents: Sendable {
  private let events = Mutex<[OutsideEvent]>([])
  private let waker: LiveSocket.Waker

  init(_ waker: LiveSocket.Waker) { self.waker = waker }

  func take() -> [OutsideEvent] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  private func post(_ event: OutsideEvent) {
    events.withLock { $0.append(event) }
    waker.wake()
  }

  /// SIGINT, SIGTERM, SIGHUP and SIGWINCH from now on arrive as events, on whatever thread they hit. To be called before
  /// other threads are made, which take over what is blocked.
  func watchSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGWINCH] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Thread.detachNewThread { [signals] in
      var signals = signals
      while true {
        var signal: Int32 = 0
        if sigwait(&signals, &signal) == 0 { self.post(signal == SIGWINCH ? .resized : .terminated) }
      }
    }
  }

  /// What is typed, until the end of the input.
  func watchKeys() {
    Thread.detachNewThread {
      var buffer = [UInt8](repeating: 0, count: 256)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return }
        self.post(.keys(Array(buffer[..<count])))
      }
    }
  }
}
