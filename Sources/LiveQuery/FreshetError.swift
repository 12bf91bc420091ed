/// A code of the wire contract (protocol 5): what a program can act on.
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let badMessage = ErrorCode(rawValue: "bad_message")
  package static let unknownType = ErrorCode(rawValue: "unknown_type")
  package static let unknownSubscription = ErrorCode(rawValue: "unknown_subscription")
  package static let duplicateSubscription = ErrorCode(rawValue: "duplicate_subscription")
  package static let badQuery = ErrorCode(rawValue: "bad_query")
  package static let noSuchTable = ErrorCode(rawValue: "no_such_table")
  package static let noSuchColumn = ErrorCode(rawValue: "no_such_column")
  package static let duplicateKey = ErrorCode(rawValue: "duplicate_key")
  package static let notAllowed = ErrorCode(rawValue: "not_allowed")
  package static let unauthenticated = ErrorCode(rawValue: "unauthenticated")
  package static let tooLarge = ErrorCode(rawValue: "too_large")
  package static let limitExceeded = ErrorCode(rawValue: "limit_exceeded")
  package static let timeout = ErrorCode(rawValue: "timeout")
  package static let schemaChanged = ErrorCode(rawValue: "schema_changed")
  package static let constraint = ErrorCode(rawValue: "constraint")
  package static let readOnly = ErrorCode(rawValue: "read_only")
  package static let overloaded = ErrorCode(rawValue: "overloaded")
  package static let shuttingDown = ErrorCode(rawValue: "shutting_down")
  package static let `internal` = ErrorCode(rawValue: "internal")
  // HTTP alone has these two.
  package static let notFound = ErrorCode(rawValue: "not_found")
  package static let methodNotAllowed = ErrorCode(rawValue: "method_not_allowed")

  /// Whether the same request may succeed later, unchanged.
  package var isRetryable: Bool {
    [.overloaded, .timeout, .limitExceeded, .shuttingDown, .internal].contains(self)
  }
}

/// What is told to a client: a code and a sentence.
package struct FreshetError: Error, Hashable, Sendable {
  package var code: ErrorCode
  package var message: String

  /// - Parameter message: cut when it is very long: SQLite repeats what clients wrote.
  package init(_ code: ErrorCode, _ message: String) {
    self.code = code
    let limit = 1_000
    self.message = message.utf8.count <= limit ? message : String(message.unicodeScalars.prefix(limit)) + "…"
  }
}
