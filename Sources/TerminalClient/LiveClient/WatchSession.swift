package import LiveQuery
package import Wire

/// One subscription over a connection that may go and come: what to do about everything that happens.
///
/// State: `list` is what the client holds; `status` says how the connection is. Events return what is to be done, in
/// order; nothing is done here.
package struct WatchSession {
  package enum Status: Equatable, Sendable {
    case connecting
    /// Subscribed, or about to be.
    case live
    /// Until the next attempt.
    case waiting
  }

  package enum Action: Equatable, Sendable {
    case connect
    case send(String)
    /// Call `retry` after so many milliseconds.
    case wait(Int)
    /// The list changed so.
    case show(ListChange)
    /// A sentence for the reader that ends nothing.
    case warn(String)
    /// It is over: exit with status 1 and this sentence.
    case fail(String)
  }

  package private(set) var list = LiveList()
  package private(set) var status = Status.connecting
  private let query: JSONValue
  /// What says who is watching; nil for nobody in particular.
  private let token: AccessToken?
  /// The server's, for sentences.
  private let address: String
  /// What to subscribe with.
  private var window: Window?
  /// The window that was asked for and not answered yet, and the one to be asked for after that.
  private var asked: Window?
  private var wish: Window?
  /// Whether any connection has ever stood.
  private var hasConnected = false
  private var backoff = Backoff()

  private static let id = "w"
  private static let tokenID = "t"
  /// Closes after which trying again is of no use: not JSON, not UTF-8, too long, unauthenticated, a bad message.
  private static let finalCloses: Set<UInt16> = [1003, 1007, 1008, 1009, 4400, 4401, 4403]

  package init(address: String, query: JSONValue, window: Window?, token: AccessToken? = nil) {
    self.address = address
    self.query = query
    self.window = window
    self.token = token
  }

  package func start() -> [Action] { [.connect] }

  package mutating func opened() -> [Action] {
    hasConnected = true
    status = .live
    asked = nil
    var members: [String: JSONValue] = [
      "type": .string("subscribe"), "id": .string(Self.id), "query": query,
    ]
    // What is resumed goes on with the window held; one wanted meanwhile is asked for after that.
    let isResuming = list.isComplete
    if let window { members["window"] = window.json }
    if isResuming { members["since"] = .string(list.version) }
    return authentication + [.send(JSONValue.object(members).jsonText)]
  }

  /// What comes first: the subscription behind it is already the token's.
  private var authentication: [Action] {
    guard let token else { return [] }
    let members: [String: JSONValue] = [
      "type": .string("authenticate"), "id": .string(Self.tokenID), "token": .string(token.text),
    ]
    return [.send(JSONValue.object(members).jsonText)]
  }

  package mutating func received(_ bytes: [UInt8]) -> [Action] {
    guard let message = try? JSONParser.parse(bytes), case .object = message else {
      return [.warn("the server sent something that is no JSON object")]
    }
    switch message["type"] {
    case .string("snapshot"), .string("rows"), .string("patch"):
      return message["id"] == .string(Self.id) ? take(message) : []
    case .string("error"): return take(error: message)
    default: return []
    }
  }

  private mutating func take(_ message: JSONValue) -> [Action] {
    do throws(LiveClientError) {
      let change = try list.apply(message)
      backoff.reset()
      if change == .filled { asked = nil }
      if list.isComplete, let held = list.window { window = held }
      return [.show(change)] + move()
    } catch {
      list = LiveList()
      asked = nil
      let resync = JSONValue.object(["type": .string("resync"), "id": .string(Self.id)])
      return [.warn("starting over: \(error)"), .send(resync.jsonText)]
    }
  }

  private mutating func take(error message: JSONValue) -> [Action] {
    guard message["id"] == nil || message["id"] == .string(Self.id) || message["id"] == .string(Self.tokenID) else {
      return []
    }
    let code = (try? message["code"]?.text()) ?? "internal"
    let sentence = "\(code): \((try? message["message"]?.text()) ?? "no message")"
    if message["id"] == .string(Self.tokenID) { return [.fail(sentence)] }
    asked = nil
    // An error before anything was shown answers the subscription itself.
    let isFatal = message["fatal"] == .bool(true) || !list.isComplete
    guard isFatal else { return [.warn(sentence)] }
    return [.fail(sentence)]
  }

  /// - Parameter code: that of the Close frame; 0 when the connection did not come about.
  package mutating func closed(
    code: UInt16, reason: String, using generator: inout some RandomNumberGenerator
  ) -> [Action] {
    let why = reason.isEmpty ? "the connection was lost" : reason
    if !hasConnected {
      return [.fail("cannot connect to \(address): \(reason.isEmpty ? "nobody answers" : reason)")]
    }
    if Self.finalCloses.contains(code) { return [.fail("the server closed the connection (\(code)): \(why)")] }
    let isNews = status == .live
    status = .waiting
    // Parts of a snapshot are worth nothing without the rest.
    if !list.isComplete { list = LiveList() }
    let wait = Action.wait(backoff.next(using: &generator))
    return isNews ? [.warn("\(why), trying again"), wait] : [wait]
  }

  package mutating func retry() -> [Action] {
    guard status == .waiting else { return [] }
    status = .connecting
    return [.connect]
  }

  /// Asks for another window. While an answer is due, only the last wish is kept.
  package mutating func move(to offset: Int, limit: Int) -> [Action] {
    wish = Window(offset: max(0, min(offset, list.total - 1)), limit: limit)
    return move()
  }

  /// The window that will be held when everything asked for has been answered; nil when it is everything.
  package var wantedWindow: Window? { wish ?? asked ?? window }

  private mutating func move() -> [Action] {
    guard status == .live, list.isComplete, asked == nil, let next = wish else { return [] }
    wish = nil
    if next == list.window { return [] }
    asked = next
    let members: [String: JSONValue] = [
      "type": .string("window"), "id": .string(Self.id), "offset": .integer(Int64(next.offset)),
      "limit": .integer(Int64(next.limit)),
    ]
    return [.send(JSONValue.object(members).jsonText)]
  }
}

extension Window {
  fileprivate var json: JSONValue {
    .object(["offset": .integer(Int64(offset)), "limit": .integer(Int64(limit))])
  }
}
