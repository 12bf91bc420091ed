import FileMaking
import Foundation
import LiveClient

/// Shows a list as it changes, in one of several ways.
protocol WatchOutput: AnyObject {
  /// A message as it came.
  func received(_ message: [UInt8])
  func show(_ change: ListChange, _ session: WatchSession)
  /// The connection went or came, or the screen has another size.
  func refresh(_ session: WatchSession)
  func warn(_ sentence: String)
  /// What a key does to the session.
  func press(_ key: WatchKey, _ session: inout WatchSession) -> [WatchSession.Action]
  func resize(_ session: inout WatchSession) -> [WatchSession.Action]
  /// Leaves the terminal as it was.
  func finish()
}

extension WatchOutput {
  func received(_ message: [UInt8]) {}
  func refresh(_ session: WatchSession) {}
  func warn(_ sentence: String) { StandardOutput.warn(sentence) }
  func press(_ key: WatchKey, _ session: inout WatchSession) -> [WatchSession.Action] { [] }
  func resize(_ session: inout WatchSession) -> [WatchSession.Action] { [] }
  func finish() {}
}

/// `--json`: every message on a line of its own, and nothing else.
final class JSONOutput: WatchOutput {
  func received(_ message: [UInt8]) {
    // Between tokens a line's end is white space, in strings JSON has none.
    StandardOutput.write(message.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A])
  }

  func show(_ change: ListChange, _ session: WatchSession) {}
}

/// The list once, and then what changes, as plain lines.
final class PlainOutput: WatchOutput {
  /// Of a snapshot in parts; nil when standard error is no terminal.
  private var progress: ProgressBar?

  func show(_ change: ListChange, _ session: WatchSession) {
    let list = session.list
    switch change {
    case .replaced, .filled:
      if !list.isComplete && isatty(STDERR_FILENO) == 1 && progress == nil {
        progress = ProgressBar("loading", total: list.visible.count)
      }
      progress?.update(list.received)
      guard list.isComplete else { return }
      progress = nil
      write(PlainText.lines(list))
    case .patched(let patch): if !patch.isEmpty { write(PlainText.lines(patch, list)) }
    }
  }

  private func write(_ lines: [String]) { StandardOutput.write(lines.map { $0 + "\n" }.joined()) }
}
