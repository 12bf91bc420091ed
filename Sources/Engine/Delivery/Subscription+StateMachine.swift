import Lists
import LiveQuery
import Requests
import Wire

extension Subscription {
  /// Decides what a subscription's client gets next: one message at a time, and answers in the order of its requests.
  ///
  /// ```
  ///              ┌── startOver ──► startingOver ── snapshotSent ──┐
  ///   open ──────┤                                                ├──► loading ── partSent … ──► open
  ///    ▲         └── read ───────► reading ────── readEnded ──────┤
  ///    └──────────────────────── all in one message ──────────────┘                    any ── end ──► over
  /// ```
  ///
  /// Pure: the caller acts on what the events return.
  struct StateMachine: ~Copyable {
    private enum State {
      /// Patches and answers may be sent.
      case open
      /// A snapshot is to be sent at the end of this tick, or when one can be made.
      case startingOver
      // A reader reads the rows of the first request. Indirect: there are many subscriptions, and most are open.
      indirect case reading(PendingRead, AskedRequest)
      /// Rows that did not fit into one message are still to be sent.
      indirect case loading(LoadingRows)
      /// The client has ended it, or was sent the error that ended it.
      case over
    }

    private var state = State.open
    private var asked: [AskedRequest] = []
    /// How many reads in a row returned rows of a newer version than the client's.
    private var movedReads = 0

    var isOver: Bool { if case .over = state { true } else { false } }
    var isStartingOver: Bool { if case .startingOver = state { true } else { false } }
    /// Whether patches and answers may be sent.
    var isOpen: Bool { if case .open = state { true } else { false } }
    var rows: LoadingRows? { if case .loading(let rows) = state { rows } else { nil } }

    /// The request to be answered next; nil while something else comes first.
    var next: SubscriptionRequest? { isOpen ? asked.first?.request : nil }

    /// The client makes a request.
    ///
    /// - Returns: false when too many requests wait.
    mutating func ask(_ request: AskedRequest, limit: Int) -> Bool {
      if isOver || asked.count >= limit { return isOver }
      asked.append(request)
      return true
    }

    /// Takes the next request to answer it.
    mutating func takeNext() -> AskedRequest { asked.removeFirst() }

    /// The next request cannot be answered.
    ///
    /// - Returns: whether there was one.
    mutating func dropNext() -> Bool {
      if asked.isEmpty { return false }
      asked.removeFirst()
      return true
    }

    /// The client needs a snapshot.
    ///
    /// - Returns: whether to queue the subscription for one: not if it is queued already, or over.
    mutating func startOver() -> Bool {
      if isOver || isStartingOver { return false }
      // Its rows are read again after the snapshot.
      if case .reading(_, let request) = state { asked.insert(request, at: 0) }
      state = .startingOver
      return true
    }

    /// Whether a reader may read for it. After too many reads that came too late, a tick reads the rows.
    func mayRead(attempts: Int) -> Bool { movedReads < attempts }

    mutating func read(_ read: PendingRead, for request: AskedRequest) { state = .reading(read, request) }

    enum ReadEnded {
      /// The subscription no longer waits for the rows.
      case ignore
      /// The rows answer this request.
      case answer(SubscriptionRequest)
      /// The rows are of a newer version: the request is first in the queue again.
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

    /// A message with the first rows was sent, perhaps all of them.
    mutating func load(_ rows: LoadingRows) { state = rows.message.isComplete ? .open : .loading(rows) }

    /// Rows, before their first part is sent.
    mutating func begin(_ rows: LoadingRows) { state = .loading(rows) }

    /// - Returns: false when it was over already.
    mutating func end() -> Bool {
      if isOver { return false }
      state = .over
      asked = []
      return true
    }
  }
}
