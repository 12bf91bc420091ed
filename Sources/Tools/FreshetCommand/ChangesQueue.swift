import Foundation
import LiveQuery
import Requests
import Synchronization
import Wire

/// The feed's messages for the command, in their order. The queue stays short, because the feed continues only when
/// they are taken.
final class ChangesQueue: SubscriptionOutput {
  enum Item: Sendable {
    case message(ChangesMessage)
    case failure(FreshetError)
    /// All messages so far were delivered; with the position, or nil if the feed has ended.
    case caughtUp(String?)
    case stop
  }

  private let items = Mutex<[Item]>([])
  private let isThere = DispatchSemaphore(value: 0)

  func put(_ item: Item) {
    items.withLock { $0.append(item) }
    isThere.signal()
  }

  /// Waits for the next item.
  func take() -> Item {
    isThere.wait()
    return items.withLock { $0.removeFirst() }
  }

  /// Waits for the next item; nil if none comes in time.
  func take(within seconds: Double) -> Item? {
    guard isThere.wait(timeout: .now() + seconds) == .success else { return nil }
    return items.withLock { $0.removeFirst() }
  }

  func giveBack(_ item: Item) {
    items.withLock { $0.insert(item, at: 0) }
    isThere.signal()
  }

  func isDrained(_ session: UInt64, for follower: Int) -> Bool { items.withLock { $0.count < 64 } }

  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients]) {
    switch message {
    case .changes(let message): put(.message(message))
    case .error(let error, _): put(.failure(error))
    default: break
    }
  }

  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode) {}
}
