import FreshetResults
import LiveQuery
import Wire

/// One list, as its connection knows it.
struct Subscription: Sendable {
  private(set) var query: Query
  /// What the list has contents of: what the server said last.
  private(set) var window: Window?
  /// The last one of those that were asked for and not answered yet.
  private(set) var requestedWindow: Window?
  private var unansweredWindows = 0
  /// What the list has, once it is complete.
  private(set) var version: String?
  let mailbox: Mailbox
  /// The keys that were asked for and not located yet.
  private(set) var located: [[SQLValue]] = []
  /// What the list was told of why it may be behind; nil when it is not.
  private var delay: (code: ErrorCode, outlastsUpdates: Bool)?
  /// The server has ended it for now.
  var isEnded = false
  private var reader = ServerMessageReader()
  /// What `query` was, while it is not known whether the server takes the new one.
  private var previousQuery: Query?

  init(_ query: Query, window: Window?, mailbox: Mailbox) {
    self.query = query
    self.window = window
    self.mailbox = mailbox
  }

  /// What asks for it, or for what is new in it.
  var message: ClientMessage { .subscribe(.init(QuerySource(query), window: window, since: version)) }

  mutating func note(_ request: SubscriptionRequest) {
    switch request {
    case .window(let next):
      // What is resumed is what the list has. The new window is asked for again behind that.
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
      // Of another query: worth nothing to a server that did not get this request.
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

  /// It is subscribed to on another connection, or by another client: what was not answered is asked for once.
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

  /// Says it once, however often it happens.
  mutating func delay(by error: FreshetError, outlastsUpdates: Bool = false) {
    if let delay, delay == (error.code, outlastsUpdates) { return }
    delay = (error.code, outlastsUpdates)
    deliver(.delayed(error, outlastsUpdates: outlastsUpdates))
  }

  /// What outlasts updates is over.
  mutating func endDelay() {
    guard delay?.outlastsUpdates == true else { return }
    delay = nil
    deliver(.current)
  }

  mutating func deliver(_ message: ListMessage) {
    // Dropped messages leave the list at a version that nobody has: it asks for a snapshot when it is ready.
    if !mailbox.put(message) { version = nil }
  }
}
