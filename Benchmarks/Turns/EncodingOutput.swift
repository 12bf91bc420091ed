import LiveQuery
import Requests
import Synchronization
import Wire

/// Encodes what a follower sends, as the server does, and keeps counts in the place of sockets.
final class EncodingOutput: SubscriptionOutput {
  struct Counts {
    var patches = 0
    var snapshots = 0
    var errors = 0
    var bytes = 0
    var isWhole = false
    /// The operations of the last patch.
    var operations = Operations()
  }

  /// The operations of a patch, by kind.
  struct Operations {
    var deleted = 0
    var inserted = 0
    var moved = 0
    var updated = 0
    var sections = 0
    var rows: Int { deleted + inserted + moved + updated }
  }

  private let counts = Mutex(Counts())

  func isDrained(_ session: UInt64, for follower: Int) -> Bool { true }
  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode) {}

  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients]) {
    counts.withLock { counts in
      switch message {
      case .snapshot(let snapshot):
        counts.snapshots += 1
        counts.isWhole = snapshot.isComplete
      case .rows(let rows): counts.isWhole = rows.isComplete
      case .patch(let patch):
        var writer = JSONWriter(reserving: message.likelyLength)
        message.write(to: &writer, id: recipients[0].id, shape)
        counts.bytes += writer.count
        counts.patches += 1
        counts.operations = Operations(patch.patch)
      case .unsubscribed, .located, .committed, .changes, .pong, .authenticated: break
      case .error: counts.errors += 1
      }
    }
  }

  /// The counts since the last call.
  func take() -> Counts {
    counts.withLock { counts in
      let taken = counts
      counts = Counts(isWhole: taken.isWhole)
      return taken
    }
  }
}

extension EncodingOutput.Operations {
  fileprivate init(_ patch: Patch) {
    deleted = patch.deleted.count
    inserted = patch.inserted.count
    moved = patch.moved.count
    updated = patch.updated.count
    sections = patch.sectionsDeleted.count + patch.sectionsInserted.count
  }
}
