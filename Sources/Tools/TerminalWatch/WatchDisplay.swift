/// How a list that is followed is shown on standard output.
package enum WatchDisplay: Sendable {
  /// The server's messages as they come, a line each.
  case messages
  /// The list once, and then what changes, as plain lines.
  case lines
  /// A full screen that is drawn again after every change, and takes keys.
  case screen

  /// Whether standard output is a terminal that can be a full screen.
  package static var hasScreen: Bool { Terminal.isOutput }

  /// How many rows fit the screen.
  package static var screenRows: Int { ScreenOutput.bodyHeight }

  /// Handles messages as they come.
  var received: @Sendable ([UInt8]) -> Void {
    switch self {
    case .messages: JSONOutput.print
    case .lines, .screen: { _ in }
    }
  }

  var output: any WatchOutput {
    switch self {
    case .messages: JSONOutput()
    case .lines: PlainOutput()
    case .screen: ScreenOutput()
    }
  }
}
