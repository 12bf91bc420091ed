import Foundation
import FreshetRemote

/// Shows a list as it changes, in one of several ways.
protocol WatchOutput: AnyObject {
  /// - Parameter change: how it came to be, from what; nil when everything is new.
  func show(_ change: (patch: ResultsPatch, old: Rows)?, _ list: WatchedList)
  /// The connection went or came.
  func refresh(_ list: WatchedList)
  func warn(_ sentence: String)
  /// The effect of a key on the list's window.
  func press(_ key: WatchKey, _ list: inout WatchedList)
  /// The screen has another size.
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

  /// On a line of its own.
  static func print(_ message: [UInt8]) {
    // The answer to the client's own question to a silent server, which is not for the user.
    if message.starts(with: #"{"type":"pong""#.utf8) { return }
    // Between tokens a line's end is white space, in strings JSON has none.
    StandardOutput.write(message.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A])
  }
}

/// The list once, and then what changes, as plain lines.
final class PlainOutput: WatchOutput {
  func show(_ change: (patch: ResultsPatch, old: Rows)?, _ list: WatchedList) {
    guard let (patch, old) = change else { return write(PlainText.lines(list.rows)) }
    // Rows of another window are no change of the list.
    if !patch.isLoadingOnly { write(PlainText.lines(patch, from: old, to: list.rows)) }
  }

  private func write(_ lines: [String]) { StandardOutput.write(lines.map { $0 + "\n" }.joined()) }
}

extension ResultsPatch {
  /// The list is the same, and more of it is here.
  var isLoadingOnly: Bool { !changesStructure && updates.isEmpty && !changesValues }
}
