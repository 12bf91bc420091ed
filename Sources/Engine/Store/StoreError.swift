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

extension StoreError: CustomStringConvertible {
  package var description: String { "\(code.rawValue): \(message)" }
}
