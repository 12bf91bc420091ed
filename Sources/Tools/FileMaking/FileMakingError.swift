/// Why a file could not be made.
package struct FileMakingError: Error, CustomStringConvertible, Equatable {
  package enum Code: Equatable, Sendable {
    /// There is a file already where one was to be created.
    case exists
    /// The file system refused.
    case io
  }

  package var code: Code
  package var message: String

  package var description: String { message }
}
