import Following
import Gateway
import Wire

/// The first message of a session: `hello`, with the epoch to which versions and commits belong.
///
/// Any thread.
final class Greeting: Sendable {
  private let members: [(name: String, value: Int)]
  private let epochs: FileEpochs

  init(_ limits: ServerLimits, _ epochs: FileEpochs) {
    self.epochs = epochs
    members = [
      ("messageBytes", limits.sockets.messageLimit), ("subscriptions", limits.subscriptionLimit),
      // Says as well that `once` is understood.
      ("transactionMemory", limits.transactionMemory),
    ]
  }

  /// The message.
  var hello: Frame {
    Frame(reserving: 256) {
      ServerMessage.writeHello(
        to: &$0, server: "freshet/\(freshetVersion)", epoch: epochs.greeting, limits: members)
    }
  }
}
