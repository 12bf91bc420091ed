/// A code of the wire contract (protocol 5), for programs to act on.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let badMessage = ErrorCode(rawValue: "bad_message")
  public static let unknownType = ErrorCode(rawValue: "unknown_type")
  public static let unknownSubscription = ErrorCode(rawValue: "unknown_subscription")
  public static let duplicateSubscription = ErrorCode(rawValue: "duplicate_subscription")
  public static let badQuery = ErrorCode(rawValue: "bad_query")
  public static let noSuchDatabase = ErrorCode(rawValue: "no_such_database")
  public static let noSuchTable = ErrorCode(rawValue: "no_such_table")
  public static let noSuchColumn = ErrorCode(rawValue: "no_such_column")
  public static let duplicateKey = ErrorCode(rawValue: "duplicate_key")
  public static let notAllowed = ErrorCode(rawValue: "not_allowed")
  public static let unauthenticated = ErrorCode(rawValue: "unauthenticated")
  public static let tooLarge = ErrorCode(rawValue: "too_large")
  public static let limitExceeded = ErrorCode(rawValue: "limit_exceeded")
  public static let timeout = ErrorCode(rawValue: "timeout")
  public static let schemaChanged = ErrorCode(rawValue: "schema_changed")
  public static let constraint = ErrorCode(rawValue: "constraint")
  public static let readOnly = ErrorCode(rawValue: "read_only")
  public static let overloaded = ErrorCode(rawValue: "overloaded")
  public static let shuttingDown = ErrorCode(rawValue: "shutting_down")
  public static let `internal` = ErrorCode(rawValue: "internal")
  // Only HTTP has these two.
  public static let notFound = ErrorCode(rawValue: "not_found")
  public static let methodNotAllowed = ErrorCode(rawValue: "method_not_allowed")
  /// A row is not what the program expects. Only the Swift libraries have this code.
  public static let badValue = ErrorCode(rawValue: "bad_value")

  /// Whether the same request may succeed later, unchanged.
  public var isRetryable: Bool {
    [.overloaded, .timeout, .limitExceeded, .shuttingDown, .internal].contains(self)
  }
}

/// An error: a code for programs, and a sentence for people.
public struct FreshetError: Error, Hashable, Sendable {
  public var code: ErrorCode
  public var message: String

  /// - Parameter message: shortened if it is very long, because SQLite repeats what clients wrote.
  public init(_ code: ErrorCode, _ message: String) {
    self.code = code
    let limit = 1_000
    self.message = message.utf8.count <= limit ? message : String(message.unicodeScalars.prefix(limit)) + "…"
  }
}

extension FreshetError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)" }
}

extension FreshetError {
  /// No file has the database's name at the moment.
  package static let databaseMissing = FreshetError(
    .overloaded, "the database file is not there: it is served as soon as it appears")
}
