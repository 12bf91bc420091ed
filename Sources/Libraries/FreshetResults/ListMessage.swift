package import LiveQuery
package import Wire

/// A message to a subscription, from this process's engine or from the network. Protocol 3.2.
package enum ListMessage: Sendable {
  case snapshot(Snapshot)
  case rows(RowsMessage)
  case patch(PatchMessage)
  /// Nil: the result has no such row.
  case located(LiveQuery.IndexPath?)
  /// An error about the list or its new query. Fatal: no further message follows.
  case error(FreshetError, isFatal: Bool)
  /// The list may be out of date for an external reason, such as the connection. The delay ends with the next update,
  /// or with `current` if it outlasts updates.
  case delayed(FreshetError, outlastsUpdates: Bool)
  /// The list is up to date: a delay has ended.
  case current
  /// The changes laid over the list are different. Not sent by the source.
  case laid
}

extension ListMessage {
  /// The engine's or a server's message; nil if it concerns no list.
  package init?(_ message: ServerMessage) {
    switch message {
    case .snapshot(let snapshot): self = .snapshot(snapshot)
    case .rows(let rows): self = .rows(rows)
    case .patch(let patch): self = .patch(patch)
    case .located(_, let place): self = .located(place?.path)
    case .error(let error, let isFatal): self = .error(error, isFatal: isFatal)
    case .unsubscribed, .committed, .pong, .authenticated, .changes: return nil
    }
  }
}
