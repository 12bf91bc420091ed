/// Why nothing was imported.
package struct ImportError: Error, CustomStringConvertible {
  package enum Code: Equatable, Sendable {
    /// The file is not there, cannot be read, or is no text.
    case unreadable
    /// A line of the file is not as it must be.
    case badLine
    /// The table, its columns or a name given by the user do not fit the file.
    case mismatch
    /// The database refused.
    case database
    /// Whoever asked for it does not want it any more.
    case cancelled
  }

  package var code: Code
  /// One sentence; about a line of the file, it begins with `FILE:LINE:`.
  package var message: String
  /// The error underneath, when SQLite reported one.
  package var cause: (any Error)?

  package var description: String { message }

  init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}
