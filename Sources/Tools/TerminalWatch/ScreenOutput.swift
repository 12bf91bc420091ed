import FreshetRemote
import LiveQuery

/// The list as a full screen that is drawn again after every change.
///
/// Owner: the `WatchLoop` that it shows. Mutable state: the size of the screen (`screen`), what the last change marked,
/// and what the last drawing showed.
final class ScreenOutput: WatchOutput {
  private let terminal = Terminal()
  private var screen: ScreenText
  private var marks = ChangeMarks()
  /// Rows on the screen.
  private var shown = 1
  private var warning: String?

  init() {
    screen = Self.screen()
    terminal.enter()
  }

  private static func screen() -> ScreenText {
    let size = Terminal.size
    return ScreenText(width: size.width, height: size.height, hasColor: Terminal.hasColor)
  }

  /// How many rows fit.
  static var bodyHeight: Int { screen().bodyHeight }

  func show(_ change: (patch: ResultsPatch, old: Rows)?, _ list: WatchedList) {
    if let (patch, old) = change {
      // Highlights stay where they are when the user scrolls.
      if !patch.isLoadingOnly { marks = ChangeMarks(patch, from: old, to: list.rows) }
    } else {
      marks = ChangeMarks()
    }
    warning = nil
    refresh(list)
  }

  func refresh(_ list: WatchedList) {
    let drawn = screen.lines(list.rows, marks: marks) { status(list, rows: $0) }
    shown = max(1, drawn.rows)
    terminal.draw(drawn.lines)
  }

  private func status(_ list: WatchedList, rows count: Int) -> String {
    let rows = list.rows
    let connection =
      switch list.status {
      case .connecting: "connecting"
      case .live: list.isComplete ? "live" : "loading"
      case .waiting: "no connection, trying again"
      }
    let end = warning.map { CellText.text(.text($0)) } ?? "q quits"
    if rows.columns.isEmpty { return " \(connection) · \(end)" }
    let first = rows.window?.lowerBound ?? 0
    let place = count == 0 ? "" : "\(first + 1)–\(first + count) of "
    let sections = rows.hasSections ? " · \(rows.sections.count) sections" : ""
    return
      " \(place)\(rows.count) rows\(sections)\(CellText.totals(rows.totals)) · commit \(rows.commit) · \(connection) · \(end)"
  }

  func warn(_ sentence: String) { warning = sentence }

  func press(_ key: WatchKey, _ list: inout WatchedList) {
    guard let window = list.wantedWindow, list.isComplete else { return }
    let offset = Scrolling(height: screen.bodyHeight)
      .offset(after: key, from: window.offset, shown: shown, in: list.rows)
    list.move(to: offset, limit: window.limit)
  }

  func resize(_ list: inout WatchedList) {
    let before = screen.bodyHeight
    screen = Self.screen()
    refresh(list)
    // A limit that the user gave stays.
    guard let window = list.wantedWindow, window.limit == before else { return }
    list.move(to: window.offset, limit: screen.bodyHeight)
  }

  func finish() { terminal.leave() }
}
