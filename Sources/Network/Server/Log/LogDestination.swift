import Foundation

/// Where a log goes.
package enum LogDestination: Hashable, Sendable {
  case standardOutput
  /// A path.
  case file(String)

  /// - Parameter text: a path, or `-`.
  /// - Parameter folder: where paths start that are not absolute; nil for the current one.
  package init(_ text: String, folder: String? = nil) {
    if text == "-" {
      self = .standardOutput
    } else if let folder, !text.hasPrefix("/") {
      self = .file(URL(fileURLWithPath: folder).appendingPathComponent(text).path)
    } else {
      self = .file(text)
    }
  }
}
