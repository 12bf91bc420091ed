import LiveQuery
import Wire

extension Subscription {
  /// What a subscription's client gets next: one thing at a time, and its requests in the order in which they were made.
  ///
  /// ```
  ///              ┌── startOver ──► startingOver ── snapshotSent ──┐
  ///   open ──────┤                                                ├──► loading ── partSent … ──► open
  ///    ▲         └── read ───────► reading ────── readEnded ──────┤
  ///    └──────────────────────── all in one message ──────────────┘                    any ── end ──► over
  /// ```
  ///
  /// Pure: the follower does what the answers to events say.
  struct StateMachine: ~Copyable {
    private enum State {
      /// It gets patches, and answers.
      case open
      /// It gets a snapshot at the end of this tick, or when one can be made.
      case startingOver
      // Indirect, because there are many subscriptions, and most are open.
      /// A reader reads the rows of its first request.
      indirect case reading(PendingRead, Asked)
      /// The rest of rows that did not fit into one message.
      indirect case loading(LoadingRows)
      /// The client has ended it, or was sent the error that ended it.
      case over
    }

    /// A request of the client, and what counts it among those unanswered.
    struct Asked {
      let request: SubscriptionRequest
      let ticket: RequestTicket?
    }

    private var state = State.open
    private var asked: [Asked] = []
    /// How often in a row a reader read rows of a newer version than the client's.
    private var movedReads = 0

    var isOver: Bool { if case .over = state { true } else { false } }
    var isStartingOver: Bool { if case .startingOver = state { true } else { false } }
    /// Whether patches and answers may be sent.
    var isOpen: Bool { if case .open = state { true } else { false } }
    var rows: LoadingRows? { if case .loading(let rows) = state { rows } else { nil } }

    /// What is to be answered next; nil while something else comes first.
    var next: SubscriptionRequest? { isOpen ? asked.first?.request : nil }

    /// The client asks for something.
    ///
    /// - Returns: false when too much waits.
    mutating func ask(_ request: Asked, limit: Int) -> Bool {
      if isOver || asked.count >= limit { return isOver }
      asked.append(request)
      return true
    }

    /// The next request is being answered.
    mutating func takeNext() -> Asked { asked.removeFirst() }

    /// What the next request waits for has failed.
    ///
    /// - Returns: whether there was one.
    mutating func dropNext() -> Bool {
      if asked.isEmpty { return false }
      asked.removeFirst()
      return true
    }

    /// The client needs a snapshot.
    ///
    /// - Returns: whether it is to be queued for one: not when it is already, or over.
    mutating func startOver() -> Bool {
      if isOver || isStartingOver { return false }
      // Its rows are read anew after the snapshot.
      if case .reading(_, let request) = state { asked.insert(request, at: 0) }
      state = .startingOver
      return true
    }

    /// Whether a reader may read for it: after some rows that came too late they are read in a tick.
    func mayRead(attempts: Int) -> Bool { movedReads < attempts }

    mutating func read(_ read: PendingRead, for request: Asked) { state = .reading(read, request) }

    /// Whether it waits for these rows.
    func isReading(_ read: PendingRead) -> Bool {
      if case .reading(let waited, _) = state { waited === read } else { false }
    }

    enum ReadEnded {
      /// It waits for something else by now.
      case ignore
      /// The rows are the request's answer.
      case answer(SubscriptionRequest)
      /// The rows are of a newer version: the request is the next one again.
      case askAgain
    }

    mutating func readEnded(_ read: PendingRead, hasMoved: Bool) -> ReadEnded {
      guard case .reading(let waited, let request) = state, waited === read else { return .ignore }
      state = .open
      movedReads = hasMoved ? movedReads + 1 : 0
      if !hasMoved { return .answer(request.request) }
      asked.insert(request, at: 0)
      return .askAgain
    }

    /// The first part of rows was sent, or none yet.
    mutating func load(_ rows: LoadingRows) { state = rows.message.isComplete ? .open : .loading(rows) }

    /// Rows, before their first part is sent.
    mutating func begin(_ rows: LoadingRows) { state = .loading(rows) }

    /// - Returns: false when it was over.
    mutating func end() -> Bool {
      if isOver { return false }
      state = .over
      asked = []
      return true
    }
  }
}
