package import LiveQuery

/// A client's request, while it waits.
package enum WaitingRequest {
  /// A subscription whose query is not followed yet, and the requests that its client has made of it since.
  case subscribe(FollowerCommand.Subscribe, later: [AskedRequest])
  /// The next request of a subscription.
  case next(SubscriptionKey)
  /// A snapshot for a client that does not subscribe.
  ///
  /// - Parameter held: the client's version and its name; nil if any version is an answer.
  case snapshot(FollowerCommand.SnapshotRequest, held: (version: ResultVersion?, name: String)?)
  /// A list that is to be opened and kept open.
  case keep

  /// The requester whose share of the readers the request takes.
  package var requester: Requester {
    switch self {
    case .subscribe(let command, _): .session(command.key.session)
    case .next(let key): .session(key.session)
    case .snapshot(let request, _): request.requester
    case .keep: .server
    }
  }
}

/// A subscription's request, and the ticket that counts it as unanswered.
package struct AskedRequest {
  package let request: SubscriptionRequest
  let ticket: RequestTicket?

  package init(request: SubscriptionRequest, ticket: RequestTicket?) {
    self.request = request
    self.ticket = ticket
  }
}

extension FollowerCommand.SnapshotRequest {
  package var requester: Requester { id.map { .request($0) } ?? .server }
  package var client: RequestTable.Client? { id.map { .request($0) } }
}
