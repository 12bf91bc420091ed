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
  /// It only decides; the caller acts on the results of the events.
  struct StateMachine: ~Copyable {
    private enum State {
      /// Patches and answers may be sent.
      case open
      /// A snapshot is to be sent at the end of this tick, or as soon as it can be made.
      case startingOver
      // A reader is reading the rows of the first request. The case is indirect to save memory, because there are many
      // subscriptions, and most are open.
      indirect case reading(PendingRead, AskedRequest)
      /// Rows that did not fit into one message are still to be sent.
      indirect case loading(LoadingRows)
      /// The client has ended it, or was sent the error that ended it.
      case over
    }

    private var state = State.open
    private var asked: [AskedRequest] = []
    /// The number of consecutive reads that returned rows of a newer version than the client's.
    private var movedReads = 0

    var isOver: Bool { if case .over = state { true } else { false } }
    var isStartingOver: Bool { if case .startingOver = state { true } else { false } }
    /// Whether patches and answers may be sent.
    var isOpen: Bool { if case .open = state { true } else { false } }
    var rows: LoadingRows? { if case .loading(let rows) = state { rows } else { nil } }

    /// The request to be answered next; nil if another message must be sent first.
    var next: SubscriptionRequest? { isOpen ? asked.first?.request : nil }

    /// Called when the client makes a request.
    ///
    /// - Returns: false if too many requests wait.
    mutating func ask(_ request: AskedRequest, limit: Int) -> Bool {
      if isOver || asked.count >= limit { return isOver }
      asked.append(request)
      return true
    }

    /// Takes the next request to answer it.
    mutating func takeNext() -> AskedRequest { asked.removeFirst() }

    /// Called when the next request cannot be answered.
    ///
    /// - Returns: whether there was a request.
    mutating func dropNext() -> Bool {
      if asked.isEmpty { return false }
      asked.removeFirst()
      return true
    }

    /// Called when the client needs a snapshot.
    ///
    /// - Returns: whether to queue the subscription for a snapshot. False if it is queued already, or over.
    mutating func startOver() -> Bool {
      if isOver || isStartingOver { return false }
      // The rows of this request are read again after the snapshot.
      if case .reading(_, let request) = state { asked.insert(request, at: 0) }
      state = .startingOver
      return true
    }

    /// Whether a reader may read for the subscription. After too many reads whose rows were too new, a tick reads the
    /// rows.
    func mayRead(attempts: Int) -> Bool { movedReads < attempts }

    mutating func read(_ read: PendingRead, for request: AskedRequest) { state = .reading(read, request) }

    enum ReadEnded {
      /// The subscription no longer waits for the rows.
      case ignore
      /// The rows answer this request.
      case answer(SubscriptionRequest)
      /// The rows belong to a newer version, so the request is put first in the queue again.
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

    /// Called when a message with the first rows was sent, which may be all rows.
    mutating func load(_ rows: LoadingRows) { state = rows.message.isComplete ? .open : .loading(rows) }

    /// Called when rows are to be sent in parts, before the first part is sent.
    mutating func begin(_ rows: LoadingRows) { state = .loading(rows) }

    /// - Returns: false if it was over already.
    mutating func end() -> Bool {
      if isOver { return false }
      state = .over
      asked = []
      return true
    }
  }
}
