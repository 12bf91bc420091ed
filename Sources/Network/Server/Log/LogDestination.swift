/// Where a log goes.
package enum LogDestination: Hashable, Sendable {
  case standardOutput
  /// A path.
  case file(String)

  /// - Parameter text: a path, or `-`.
  package init(_ text: String) { self = text == "-" ? .standardOutput : .file(text) }
}
