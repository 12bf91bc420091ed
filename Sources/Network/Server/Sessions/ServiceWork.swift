import Gateway
import Synchronization

/// Runs work of other threads on a service thread, which owns its sessions.
final class ServiceWork: Sendable {
  private let work = Mutex<[@Sendable () -> Void]>([])

  /// Any thread. Does nothing once the gateway has stopped.
  func post(_ step: @escaping @Sendable () -> Void, to gateway: Gateway, thread: Int) {
    work.withLock { $0.append(step) }
    gateway.notify(0, thread: thread)
  }

  /// On the service thread.
  func run() {
    let steps = work.withLock { work in
      defer { work = [] }
      return work
    }
    for step in steps { step() }
  }
}
