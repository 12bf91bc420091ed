import Controllers
import LiveQuery
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
    /// Of the last patch.
    var operations = Operations()
  }

  /// What a patch lists, by kind.
  struct Operations {
    var deleted = 0
    var inserted = 0
    var moved = 0
    var updated = 0
    var sections = 0
    var rows: Int { deleted + inserted + moved + updated }
  }

  private let counts = Mutex(Counts())

  func isDrained(_ session: UInt64) -> Bool { true }
  func subscriptionEnded(_ key: SubscriptionKey) {}

  func send(_ delivery: Delivery, shape: Shape, to recipients: [Recipients]) {
    counts.withLock { counts in
      switch delivery {
      case .snapshot(let snapshot):
        counts.snapshots += 1
        counts.isWhole = snapshot.isComplete
      case .rows(let rows): counts.isWhole = rows.isComplete
      case .patch(let message):
        counts.bytes += encode(message, shape, recipients[0].id).count
        counts.patches += 1
        counts.operations = Operations(message.patch)
      case .unsubscribed, .located: break
      case .error: counts.errors += 1
      }
    }
  }

  private func encode(_ message: PatchDelivery, _ shape: Shape, _ id: String) -> [UInt8] {
    let header = PatchHeader(
      from: message.from, to: message.to, commit: message.commit, total: message.total, alongside: message.alongside)
    let body = MessageBody.patch(
      header, message.patch, rows: message.rows, changed: message.changed,
      RowLayout(columns: message.columns, shape: shape))
    var writer = JSONWriter()
    writer.string(id)
    return body.message(id: writer.bytes)
  }

  /// What was sent since the last call.
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
