import LiveQuery

/// The reason why a follower ends a subscription, as one number: `Gateway.notify` carries no more.
struct SubscriptionEnd {
  /// In its session; 0 if it is not a subscription.
  let number: UInt64
  /// The error's code; nil for one that this server does not know.
  let code: ErrorCode?

  private static let codes: [ErrorCode] = [
    .badMessage, .badQuery, .noSuchTable, .noSuchColumn, .duplicateKey, .notAllowed, .unauthenticated, .tooLarge,
    .limitExceeded, .timeout, .schemaChanged, .constraint, .readOnly, .overloaded, .shuttingDown, .internal,
  ]
  /// Subscriptions of a session are numbered from 1 up: they do not come near the upper bits.
  private static let shift: UInt64 = 56

  init(number: UInt64, code: ErrorCode) {
    self.number = number
    self.code = code
  }

  init(rawValue: UInt64) {
    let place = Int(rawValue >> Self.shift)
    number = rawValue & (1 << Self.shift - 1)
    code = place > 0 && place <= Self.codes.count ? Self.codes[place - 1] : nil
  }

  var rawValue: UInt64 {
    let place = code.flatMap { Self.codes.firstIndex(of: $0) }.map { UInt64($0) + 1 } ?? 0
    return number | place << Self.shift
  }
}
