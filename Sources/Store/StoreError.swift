import GRDB
package import LiveQuery

/// What went wrong in the store.
///
/// `code` is one of the wire's error codes (docs/protocol.md, section 5) wherever a client can cause the error, so
/// that a session can send it on as it is; the set is open.
package struct StoreError: Error {
  /// A short stable word for programs.
  package let code: ErrorCode
  /// One sentence for people. It never holds bound values.
  package let message: String
  /// The error underneath, when another library reported one.
  package let cause: (any Error)?

  package init(code: ErrorCode, message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension ErrorCode {
  /// A value given by the operator (command line, configuration) is out of range.
  package static let badArgument = ErrorCode(rawValue: "bad_argument")
}

extension StoreError: CustomStringConvertible {
  package var description: String { "\(code.rawValue): \(message)" }
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
      self.init(code: .internal, message: String(describing: error), cause: error)
    }
  }

  /// The code for one of SQLite's primary result codes.
  static func code(of resultCode: ResultCode) -> ErrorCode {
    switch resultCode {
    case .SQLITE_READONLY: .readOnly
    case .SQLITE_CONSTRAINT: .constraint
    case .SQLITE_INTERRUPT: .timeout
    case .SQLITE_BUSY, .SQLITE_LOCKED: .overloaded
    case .SQLITE_AUTH: .notAllowed
    default: .internal
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
