import FreshetRemote
import LiveQuery

/// The displayed state of a list and of its connection. Pure.
struct WatchedList {
  enum Status: Equatable {
    case connecting
    case live
    /// Waiting for the next attempt to connect.
    case waiting
  }

  var rows = Rows()
  var status = Status.connecting
  /// Whether rows have come.
  var isComplete = false
  /// The window asked for last; nil when everything is wanted. Its limit may be beyond the end of the list.
  private(set) var window: Window?
  /// Whether the window was requested and has not come yet.
  private var isAsked = false
  /// The window to request after that.
  private var wish: Window?

  init(window: Window?) { self.window = window }

  /// The window that will be held when everything asked for has been answered.
  var wantedWindow: Window? { wish ?? window }

  mutating func take(_ rows: Rows) {
    self.rows = rows
    isComplete = true
    guard let held = rows.window, let asked = window else { return }
    if isAsked, held == asked.range(total: rows.count) {
      isAsked = false
    } else if !isAsked {
      // Rows before the window were inserted or deleted: the window stays at the rows that it shows.
      window = Window(offset: held.lowerBound, limit: asked.limit)
    }
  }

  mutating func connected() {
    status = .live
    isAsked = false
  }

  /// Wishes for another window. While an answer is due, only the last wish is kept.
  mutating func move(to offset: Int, limit: Int) {
    wish = Window(offset: max(0, min(offset, rows.count - 1)), limit: limit)
  }

  /// - Returns: the window to ask for now.
  mutating func nextWindow() -> Window? {
    guard status == .live, isComplete, !isAsked, let next = wish else { return nil }
    wish = nil
    if next == window { return nil }
    (window, isAsked) = (next, true)
    return next
  }
}
