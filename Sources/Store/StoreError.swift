import GRDB

/// What went wrong in the store.
///
/// `code` is one of the wire's error codes (docs/protocol.md, section 5) wherever a client can cause the error, so
/// that a session can send it on as it is; the set is open.
package struct StoreError: Error {
  /// A short stable word for programs, see `StoreError.Code`.
  package let code: String
  /// One sentence for people. It never holds bound values.
  package let message: String
  /// The error underneath, when another library reported one.
  package let cause: (any Error)?

  package init(code: String, message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The codes that the store itself uses.
  package enum Code {
    package static let badQuery = "bad_query"
    package static let noSuchTable = "no_such_table"
    package static let noSuchColumn = "no_such_column"
    package static let notAllowed = "not_allowed"
    package static let readOnly = "read_only"
    package static let constraint = "constraint"
    package static let timeout = "timeout"
    package static let overloaded = "overloaded"
    package static let internalError = "internal"
    /// A value given by the operator (command line, configuration) is out of range.
    package static let badArgument = "bad_argument"
    /// The database has no change log: nobody ran `freshet track`, or somebody ran `freshet untrack`.
    package static let notTracked = "not_tracked"
  }
}

extension StoreError: CustomStringConvertible {
  package var description: String { "\(code): \(message)" }
}

extension StoreError {
  /// Wraps any error; a `StoreError` stays as it is.
  init(wrapping error: any Error) {
    switch error {
    case let error as StoreError:
      self = error
    case let error as DatabaseError:
      let message = error.message ?? "SQLite error \(error.resultCode.rawValue)"
      self.init(code: Self.code(of: error.resultCode), message: message, cause: error)
    default:
      self.init(code: Code.internalError, message: String(describing: error), cause: error)
    }
  }

  /// The code for one of SQLite's primary result codes.
  static func code(of resultCode: ResultCode) -> String {
    switch resultCode {
    case .SQLITE_READONLY: Code.readOnly
    case .SQLITE_CONSTRAINT: Code.constraint
    case .SQLITE_INTERRUPT: Code.timeout
    case .SQLITE_BUSY, .SQLITE_LOCKED: Code.overloaded
    case .SQLITE_AUTH: Code.notAllowed
    default: Code.internalError
    }
  }
}

/// Runs `body` and gives its errors the module's type.
func withStoreErrors<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
  do {
    return try body()
  } catch {
    throw StoreError(wrapping: error)
  }
}
