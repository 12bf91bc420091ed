import LiveClient
import LiveQuery
import Wire

/// The list as a full screen that is drawn again after every change.
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

  func show(_ change: ListChange, _ session: WatchSession) {
    switch change {
    case .replaced: marks = ChangeMarks()
    case .filled: break
    case .patched(let patch): marks = ChangeMarks(patch, session.list)
    }
    warning = nil
    refresh(session)
  }

  func refresh(_ session: WatchSession) {
    let drawn = screen.lines(session.list, marks: marks) { status(session, rows: $0) }
    shown = max(1, drawn.rows)
    terminal.draw(drawn.lines)
  }

  private func status(_ session: WatchSession, rows: Int) -> String {
    let list = session.list
    let connection =
      switch session.status {
      case .connecting: "connecting"
      case .live: list.isComplete ? "live" : "loading"
      case .waiting: "no connection, trying again"
      }
    let end = warning.map { CellText.text(.string($0)) } ?? "q quits"
    if list.columns.isEmpty { return " \(connection) · \(end)" }
    let first = list.visible.lowerBound
    let place = rows == 0 ? "" : "\(first + 1)–\(first + rows) of "
    let sections = list.hasSections ? " · \(list.sections.count) sections" : ""
    return " \(place)\(list.total) rows\(sections) · commit \(list.commit) · \(connection) · \(end)"
  }

  func warn(_ sentence: String) { warning = sentence }

  func press(_ key: WatchKey, _ session: inout WatchSession) -> [WatchSession.Action] {
    guard let window = session.wantedWindow, session.list.isComplete else { return [] }
    let offset = Scrolling(height: screen.bodyHeight)
      .offset(after: key, from: window.offset, shown: shown, in: session.list)
    return session.move(to: offset, limit: window.limit)
  }

  func resize(_ session: inout WatchSession) -> [WatchSession.Action] {
    let before = screen.bodyHeight
    screen = Self.screen()
    refresh(session)
    // A limit that was given stays.
    guard let window = session.wantedWindow, window.limit == before else { return [] }
    return session.move(to: window.offset, limit: screen.bodyHeight)
  }

  func finish() { terminal.leave() }
}
