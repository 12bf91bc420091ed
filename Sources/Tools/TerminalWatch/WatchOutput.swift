import Foundation
import FreshetRemote

/// Shows a list as it changes, in one of several ways.
protocol WatchOutput: AnyObject {
  /// - Parameter change: the patch that led to the list, and the list before it; nil when everything is new.
  func show(_ change: (patch: ResultsPatch, old: Rows)?, _ list: WatchedList)
  /// Called when the connection was lost or opened.
  func refresh(_ list: WatchedList)
  func warn(_ sentence: String)
  /// Applies a key to the list's window.
  func press(_ key: WatchKey, _ list: inout WatchedList)
  /// Called when the screen has another size.
  func resize(_ list: inout WatchedList)
  /// Leaves the terminal as it was.
  func finish()
}

extension WatchOutput {
  func refresh(_ list: WatchedList) {}
  func warn(_ sentence: String) { StandardOutput.warn(sentence) }
  func press(_ key: WatchKey, _ list: inout WatchedList) {}
  func resize(_ list: inout WatchedList) {}
  func finish() {}
}

/// `--json`: every message was printed as it came.
final class JSONOutput: WatchOutput {
  func show(_ change: (patch: ResultsPatch, old: Rows)?, _ list: WatchedList) {}

  /// Prints a message on a line of its own.
  static func print(_ message: [UInt8]) {
    // A pong answers the client's own ping, which does not concern the user.
    if message.starts(with: #"{"type":"pong""#.utf8) { return }
    // Line ends become spaces: JSON has them only as white space between tokens.
    StandardOutput.write(message.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A])
  }
}

/// The list once, and then what changes, as plain lines.
final class PlainOutput: WatchOutput {
  func show(_ change: (patch: ResultsPatch, old: Rows)?, _ list: WatchedList) {
    guard let (patch, old) = change else { return write(PlainText.lines(list.rows)) }
    // Loading rows of another window does not change the list.
    if !patch.isLoadingOnly { write(PlainText.lines(patch, from: old, to: list.rows)) }
  }

  private func write(_ lines: [String]) { StandardOutput.write(lines.map { $0 + "\n" }.joined()) }
}

extension ResultsPatch {
  /// Whether the list is the same, and only more of its rows were loaded.
  var isLoadingOnly: Bool { !changesStructure && updates.isEmpty && !changesValues }
}
