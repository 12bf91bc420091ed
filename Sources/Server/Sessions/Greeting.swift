import Gateway
import Synchronization
import Wire

/// The first message of a session: `hello`, with the epoch to which versions and commits belong.
///
/// Any thread.
final class Greeting: Sendable {
  private let limits: [(name: String, value: Int)]
  /// New with every start, and when the database file is another one: what was known of before is worth nothing then.
  private let epoch = Mutex(Greeting.newEpoch)

  private static var newEpoch: String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

  init(_ configuration: ServerConfiguration) {
    limits = [
      ("messageBytes", configuration.messageLimit), ("subscriptions", configuration.subscriptionLimit),
      // Says as well that `once` is understood.
      ("transactionMemory", configuration.transactionMemory),
    ]
  }

  func renewEpoch() { epoch.withLock { $0 = Greeting.newEpoch } }

  /// The message.
  var hello: Frame {
    Frame(reserving: 256) {
      ServerMessage.writeHello(
        to: &$0, server: "freshet/\(freshetVersion)", epoch: epoch.withLock { $0 }, limits: limits)
    }
  }
}
