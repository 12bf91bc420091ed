/// A session's identity, from token to token.
/// Pure: the session's owner acts on the answers.
struct SessionIdentity {
  private(set) var identity: Identity
  /// Since when the client knows that its token has expired, in seconds since 1970; nil while it has not.
  private var warnedAt: Int64?
  /// Whether a token is being verified whose key has to be fetched. Meanwhile no message is read.
  private(set) var isWaiting = false
  /// The message that came meanwhile: one, because no further one is read after it.
  private var held: [UInt8]?

  /// How long a client may continue with an expired token, in seconds.
  static let grace: Int64 = 60

  init(_ identity: Identity) { self.identity = identity }

  enum Due: Equatable {
    case warning, end
  }

  /// When `takeDue` will return an action: in seconds since 1970, `max` for never.
  var dueAt: Int64 {
    if let warnedAt { return warnedAt.addingClamped(Self.grace) }
    return identity.expires ?? .max
  }

  /// The action that is due at `now`; nil while nothing is due.
  mutating func takeDue(at now: Int64) -> Due? {
    if now < dueAt { return nil }
    if warnedAt != nil { return .end }
    warnedAt = now
    return .warning
  }

  /// - Returns: whether the session now sees the rows of another identity.
  mutating func become(_ identity: Identity) -> Bool {
    let isAnother = !self.identity.sees(theSameAs: identity)
    self.identity = identity
    warnedAt = nil
    return isAnother
  }

  mutating func beginWaiting() { isWaiting = true }

  /// Keeps a message until its sender's identity is known.
  ///
  /// - Returns: false when that is known.
  mutating func hold(_ message: UnsafeRawBufferPointer) -> Bool {
    if isWaiting { held = Array(message) }
    return isWaiting
  }

  /// - Returns: the message that was held.
  mutating func endWaiting() -> [UInt8]? {
    defer { held = nil }
    isWaiting = false
    return held
  }
}
