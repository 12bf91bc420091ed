import Foundation
import Synchronization

/// Ends the program, and the processes that it started, when a benchmark hangs or the user interrupts it.
enum Watchdog {
  private struct State {
    var children: Set<Int32> = []
    /// Counts the benchmarks, so that a deadline of one does not end the next.
    var turn = 0
  }

  private static let state = Mutex(State())

  static func register(_ child: Int32) { state.withLock { _ = $0.children.insert(child) } }
  static func unregister(_ child: Int32) { state.withLock { _ = $0.children.remove(child) } }

  /// From now on `name` has so many seconds.
  static func start(_ name: String, seconds: Int) {
    let turn = state.withLock { state in
      state.turn += 1
      return state.turn
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
      guard state.withLock({ $0.turn }) == turn else { return }
      FileHandle.standardError.write(Data("FAILED \(name): still going after \(seconds) s\n".utf8))
      end()
    }
  }

  /// - Returns: what has to be kept for as long as signals are to be heard.
  static func listen() -> [any DispatchSourceSignal] {
    // Writing to a process that has ended must be an error, not a signal.
    signal(SIGPIPE, SIG_IGN)
    return [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { end() }
      source.resume()
      return source
    }
  }

  private static func end() {
    state.withLock { state in
      for child in state.children { kill(child, SIGKILL) }
    }
    Folder.removeAll()
    exit(1)
  }
}
