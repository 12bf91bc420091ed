import Foundation

/// The progress of a long task, on standard error: a bar on a terminal, elsewhere a line for each quarter.
package struct ProgressBar {
  private let title: String
  private let total: Int
  private let isTerminal: Bool
  private let write: (String) -> Void
  /// The shown progress, in cells of the bar or in quarters: drawn again only when it changes.
  private var shown = -1

  private static let cells = 32

  /// - Parameter total: the value that `update` reaches at the end.
  package init(_ title: String, total: Int) {
    self.init(title, total: total, isTerminal: isatty(STDERR_FILENO) == 1) { text in
      FileHandle.standardError.write(Data(text.utf8))
    }
  }

  init(_ title: String, total: Int, isTerminal: Bool, write: @escaping (String) -> Void) {
    self.title = title
    self.total = max(total, 1)
    self.isTerminal = isTerminal
    self.write = write
  }

  /// Leaves the line of an unfinished bar, for other output.
  package mutating func interrupt() {
    if isTerminal, shown >= 0, shown < Self.cells { write("\n") }
    shown = -1
  }

  package mutating func update(_ done: Int) {
    let part = min(max(done, 0), total)
    let step = part * (isTerminal ? Self.cells : 4) / total
    guard step != shown else { return }
    shown = step
    let percent = part * 100 / total
    guard isTerminal else { return write("\(title): \(percent) %\n") }
    let bar = String(repeating: "█", count: step) + String(repeating: "░", count: Self.cells - step)
    write("\r\(title) \(bar) \(percent) %" + (part == total ? "\n" : ""))
  }
}
