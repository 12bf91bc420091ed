package import LiveQuery
package import Wire

/// What a subscription gets, as values: from the engine in this process, or read from the network. Protocol 3.2.
package enum ListMessage: Sendable {
  case snapshot(Snapshot)
  case rows(RowsMessage)
  case patch(PatchMessage)
  /// Nil: the result has no such row.
  case located(LiveQuery.IndexPath?)
  /// What the other side says about the list, or about its new query. Fatal: nothing more comes.
  case error(FreshetError, isFatal: Bool)
  /// The list may be behind for a reason that is not its own: the connection's, for instance. It is over with the next
  /// update, or with `current` where it outlasts updates.
  case delayed(FreshetError, outlastsUpdates: Bool)
  /// The list is up to date: a delay is over.
  case current
  /// What is laid over the list has changed. It does not come from the other side.
  case laid
}

extension ListMessage {
  /// What the engine or a server sends. Nil for what concerns no list.
  package init?(_ message: ServerMessage) {
    switch message {
    case .snapshot(let snapshot): self = .snapshot(snapshot)
    case .rows(let rows): self = .rows(rows)
    case .patch(var patch):
      patch.patch = patch.patch.withoutContents
      self = .patch(patch)
    case .located(_, let place): self = .located(place?.path)
    case .error(let error, let isFatal): self = .error(error, isFatal: isFatal)
    case .unsubscribed, .committed, .pong, .authenticated: return nil
    }
  }
}
