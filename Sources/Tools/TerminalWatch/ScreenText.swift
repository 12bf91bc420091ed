import Foundation
package import FreshetResults
import LiveQuery

/// The lines of a full screen: column names, the rows of the window under their sections, and a status line.
package struct ScreenText {
  package var width: Int
  package var height: Int
  /// Without colour, changes are bold.
  package var hasColor: Bool

  package init(width: Int, height: Int, hasColor: Bool) {
    self.width = max(width, 1)
    self.height = max(height, 3)
    self.hasColor = hasColor
  }

  /// Lines between the column names and the status.
  package var bodyHeight: Int { height - 2 }

  /// - Parameter marks: the changes of the last patch.
  /// - Parameter status: the last line, given the number of rows shown.
  /// - Returns: `height` lines, each of `width` cells at most, escape sequences not counted; and how many rows they
  ///   show.
  package func lines(
    _ list: Rows, marks: ChangeMarks, status: (_ rows: Int) -> String
  ) -> (lines: [String], rows: Int) {
    var body: [String] = []
    var rows = 0
    let layout = ColumnLayout(list, width: width)
    var section = -1
    list.forEachVisible { path, row in
      if path.section != section {
        section = path.section
        if list.hasSections { body.append(styled(CellText.fit(list.title(ofSection: section), width), .section)) }
      }
      if body.count < bodyHeight { rows += 1 }
      body.append(line(row, path, layout, marks))
    }
    body = Array(body.prefix(bodyHeight))
    body += Array(repeating: "", count: bodyHeight - body.count)
    return (
      [styled(layout.line(list.columns.map { .text($0) }), .header)] + body
        + [styled(CellText.fit(status(rows), width), .status)],
      rows
    )
  }

  private func line(_ row: ResultRow?, _ path: IndexPath, _ layout: ColumnLayout, _ marks: ChangeMarks) -> String {
    guard let row else { return "…" }
    if marks.inserted.contains(path) { return styled(layout.line(row.values), .inserted) }
    let isMoved = marks.moved.contains(path)
    let changed = marks.columns[path] ?? []
    if isMoved { return styled(layout.line(row.values), .moved) }
    return layout.line(row.values) { column, cell in changed.contains(column) ? styled(cell, .updated) : cell }
  }

  private enum Style {
    case header, section, status, inserted, moved, updated
  }

  private func styled(_ text: String, _ style: Style) -> String {
    let code =
      switch style {
      case .header: "1;4"
      case .section: "1"
      case .status: "7"
      case .inserted: hasColor ? "1;32" : "1"
      case .moved: hasColor ? "1;36" : "1"
      case .updated: hasColor ? "1;33" : "1"
      }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

/// The rows that a patch changed, to be highlighted.
package struct ChangeMarks: Equatable, Sendable {
  package var inserted: Set<IndexPath> = []
  package var moved: Set<IndexPath> = []
  /// Columns that changed, by the row's path.
  package var columns: [IndexPath: Set<Int>] = [:]

  package init() {}

  /// - Parameter old: the list before the patch.
  package init(_ patch: ResultsPatch, from old: Rows, to list: Rows) {
    inserted = Set(patch.insertions)
    for section in patch.insertedSections {
      for item in 0..<list.sections[section].count { inserted.insert(IndexPath(item: item, section: section)) }
    }
    moved = Set(patch.moves.map(\.to))
    for update in patch.updates { columns[update.to] = Set(list.changedColumns(update, from: old)) }
  }
}

/// How wide the columns of a list are on the screen.
struct ColumnLayout {
  private var widths: [Int]
  private var isRight: [Bool]
  private static let gap = "  "

  init(_ list: Rows, width: Int) {
    widths = list.columns.map { CellText.width(CellText.text(.text($0), limit: width)) }
    isRight = list.columns.map { _ in true }
    var (widths, isRight) = (widths, isRight)
    list.forEachVisible { _, row in
      for (column, value) in (row?.values ?? []).enumerated() {
        widths[column] = max(widths[column], CellText.width(CellText.text(value, limit: width)))
        if value != .null && !CellText.isNumber(value) { isRight[column] = false }
      }
    }
    // If the columns together are too wide, the widest ones are narrowed first.
    var excess = widths.reduce(0, +) + Self.gap.count * max(0, widths.count - 1) - width
    while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 1 {
      let second = widths.filter { $0 < widths[widest] }.max() ?? 1
      let step = min(excess, max(1, widths[widest] - second))
      widths[widest] -= step
      excess -= step
    }
    // If there are more columns than cells, the last columns are not shown.
    var used = 0
    let shown = widths.prefix { cell in
      used += cell + Self.gap.count
      return used - Self.gap.count <= width
    }
    (self.widths, self.isRight) = (Array(shown), isRight)
  }

  func line(_ row: [SQLValue], style: (_ column: Int, _ cell: String) -> String = { $1 }) -> String {
    widths.indices.map { column in
      let text = CellText.text(row[column], limit: widths[column])
      return style(column, CellText.fit(text, widths[column], isRight: isRight[column]))
    }.joined(separator: Self.gap)
  }
}
