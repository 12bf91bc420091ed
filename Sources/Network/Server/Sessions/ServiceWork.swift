import Gateway
import Synchronization

/// What other threads have done on the gateway's service thread, which owns the sessions.
final class ServiceWork: Sendable {
  private let work = Mutex<[@Sendable () -> Void]>([])

  /// What `Gateway.notify` says for it; no subscription has this number, and no channel this id.
  static let number = UInt64.max
  private static let channel = ChannelID(rawValue: .max)

  /// Any thread. Nothing is done once the gateway has stopped.
  func post(to gateway: Gateway, _ step: @escaping @Sendable () -> Void) {
    work.withLock { $0.append(step) }
    gateway.notify(Self.number, of: Self.channel)
    gateway.flush()
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
