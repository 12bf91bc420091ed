import FreshetResults
import LiveQuery
import Wire

/// A connection's state of one list.
struct Subscription: Sendable {
  private(set) var query: Query
  /// The window whose contents the list has, as the server last confirmed it.
  private(set) var window: Window?
  /// The last window requested, until the server has answered.
  private(set) var requestedWindow: Window?
  private var unansweredWindows = 0
  /// The version that the list has; nil while it is incomplete.
  private(set) var version: String?
  let mailbox: Mailbox
  /// The keys to be located that are not answered yet.
  private(set) var located: [[SQLValue]] = []
  /// The reason for a delay that the list was sent; nil: the list is up to date.
  private var delay: (code: ErrorCode, outlastsUpdates: Bool)?
  /// The server has ended the subscription for now.
  var isEnded = false
  private var reader = ServerMessageReader()
  /// The former `query`, until the server accepts the new one.
  private var previousQuery: Query?

  init(_ query: Query, window: Window?, mailbox: Mailbox) {
    self.query = query
    self.window = window
    self.mailbox = mailbox
  }

  /// The message that subscribes, or resumes.
  var message: ClientMessage { .subscribe(.init(QuerySource(query), window: window, since: version)) }

  mutating func note(_ request: SubscriptionRequest) {
    switch request {
    case .window(let next):
      // The list resumes with its present window, then requests the new one.
      if version == nil {
        window = next
      } else {
        requestedWindow = next
        unansweredWindows += 1
      }
    case .requery(let next, let window):
      previousQuery = previousQuery ?? query
      query = next
      self.window = window ?? self.window
      // The version belongs to the former query, so it is useless to a server that did not get this request.
      version = nil
    case .locate(let key): located.append(key)
    case .resync: version = nil
    case .fetch: break
    }
  }

  private mutating func take(_ answer: Window) {
    window = answer
    unansweredWindows = max(0, unansweredWindows - 1)
    if unansweredWindows == 0 { requestedWindow = nil }
  }

  /// Subscribes on a new connection, or as another client, and repeats the unanswered requests once.
  mutating func begin() {
    isEnded = false
    unansweredWindows = requestedWindow == nil ? 0 : 1
  }

  mutating func read(_ json: JSONValue) throws(FreshetError) -> ListMessage? {
    let message = try reader.read(json).flatMap(ListMessage.init)
    switch message {
    case .snapshot(let snapshot):
      window = snapshot.window ?? window
      version = snapshot.isComplete ? snapshot.version : nil
      updated()
    case .rows(let rows):
      if let answer = rows.window { take(answer) }
      if rows.isComplete { version = rows.version }
    case .patch(let patch):
      window = patch.patch.window ?? window
      version = patch.to
      updated()
    case .located: if !located.isEmpty { located.removeFirst() }
    case .error(let error, isFatal: false):
      if let previousQuery, !error.code.isRetryable, error.code != .schemaChanged {
        query = previousQuery
        self.previousQuery = nil
      }
    case .error, .delayed, .current, .laid, nil: break
    }
    return message
  }

  private mutating func updated() {
    previousQuery = nil
    if delay?.outlastsUpdates == false { delay = nil }
  }

  /// Reports the same reason once.
  mutating func delay(by error: FreshetError, outlastsUpdates: Bool = false) {
    if let delay, delay == (error.code, outlastsUpdates) { return }
    delay = (error.code, outlastsUpdates)
    deliver(.delayed(error, outlastsUpdates: outlastsUpdates))
  }

  /// Ends a delay that outlasts updates.
  mutating func endDelay() {
    guard delay?.outlastsUpdates == true else { return }
    delay = nil
    deliver(.current)
  }

  mutating func deliver(_ message: ListMessage) {
    // The list's version is unknown after dropped messages: it requests a snapshot when it is ready.
    if !mailbox.put(message) { version = nil }
  }
}
