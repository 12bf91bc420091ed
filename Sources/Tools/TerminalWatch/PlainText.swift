package import Foundation
package import FreshetResults
import LiveQuery

/// The one of `Foundation`, in this module: sections and rows.
package typealias IndexPath = Foundation.IndexPath

/// Rows as they came, not decoded into a type.
package typealias Rows = SectionedResults<ResultRow>

/// A list and its changes as lines of text, for a file or a pipe: values between tabs, one row a line.
///
/// `# name (count)` begins a section. A patch begins with `@ commit N, N rows`; then `-` and `+` are rows that went and
/// came, `>` rows that moved, `*` rows that changed in place, `-#` and `+#` sections, `=#` totals of sections, `=`
/// totals of the list and values alongside it.
package enum PlainText {
  package static func lines(_ list: Rows) -> [String] {
    var lines = [list.columns.map { CellText.text(.text($0)) }.joined(separator: "\t")]
    var section = -1
    list.forEachVisible { path, row in
      if path.section != section {
        section = path.section
        if list.hasSections { lines.append("# \(list.title(ofSection: section))") }
      }
      lines.append(row.map(text) ?? "…")
    }
    return lines + values(list.totals.keys.sorted(), list.totals)
      + values(list.alongside.keys.sorted(), list.alongside)
  }

  /// - Parameter old: the list before the patch.
  package static func lines(_ patch: ResultsPatch, from old: Rows, to list: Rows) -> [String] {
    var lines = ["@ commit \(list.commit), \(list.count) \(list.count == 1 ? "row" : "rows")"]
    lines += patch.deletedSections.map { "-# [\($0)] \(CellText.text(old.sections[$0].value))" }
    lines += patch.deletions.map { "- \(text($0))" + (old.rowIfLoaded(at: $0).map { " " + text($0) } ?? "") }
    for section in patch.insertedSections {
      lines.append("+# [\(section)] \(list.title(ofSection: section))")
      for item in 0..<list.sections[section].count {
        let path = IndexPath(item: item, section: section)
        if let row = list.rowIfLoaded(at: path) { lines.append("+ \(text(path)) \(text(row))") }
      }
    }
    lines += patch.insertions.map { "+ \(text($0))" + (list.rowIfLoaded(at: $0).map { " " + text($0) } ?? "") }
    lines += patch.moves.map { "> \(text($0.from)) \(text($0.to))\(changes($0, old, list))" }
    lines += patch.updates.map { "* \(text($0.to))\(changes($0, old, list))" }
    if list.hasSections {
      lines += patch.sectionTotals.map { section in
        "=# [\(section)] \(list.title(ofSection: section))"
      }
    }
    return lines + values(patch.totals, list.totals) + values(patch.alongside, list.alongside)
  }

  private static func values(_ names: [String], _ values: [String: SQLValue]) -> [String] {
    names.map { "= \(CellText.named($0, values))" }
  }

  private static func text(_ row: ResultRow) -> String {
    row.values.map { CellText.text($0) }.joined(separator: "\t")
  }

  private static func text(_ path: IndexPath) -> String { "[\(path.section),\(path.item)]" }

  private static func changes(_ change: ResultsPatch.Change, _ old: Rows, _ list: Rows) -> String {
    guard let row = list.rowIfLoaded(at: change.to) else { return "" }
    return list.changedColumns(change, from: old)
      .map { " \(list.columns[$0])=\(CellText.text(row.values[$0]))" }.joined()
  }
}

extension SectionedResults<ResultRow> {
  /// Whether the query divides its result into sections. Otherwise there is a single section without a name.
  var hasSections: Bool { sections.count != 1 || sections[0].value != .text("") && sections[0].value != .null }

  /// `name (count)`, and the section's totals.
  func title(ofSection section: Int) -> String {
    let section = sections[section]
    return "\(CellText.text(section.value, limit: 200)) (\(section.count))\(CellText.totals(section.totals))"
  }

  /// Calls `body` for every row of the window, in order; with nil where its contents are not here.
  func forEachVisible(_ body: (_ path: IndexPath, _ row: ResultRow?) -> Void) {
    let visible = window ?? 0..<count
    var start = 0
    for (section, content) in sections.enumerated() {
      for offset in visible.clamped(to: start..<start + content.count) {
        let path = IndexPath(item: offset - start, section: section)
        body(path, rowIfLoaded(at: path))
      }
      start += content.count
      if start >= visible.upperBound { return }
    }
  }

  /// The indexes of the columns that a change gave new values; empty if the old values were not held.
  func changedColumns(_ change: ResultsPatch.Change, from old: Self) -> [Int] {
    guard let before = old.rowIfLoaded(at: change.from), let after = rowIfLoaded(at: change.to) else { return [] }
    return after.values.indices.filter { before.values[$0] != after.values[$0] }
  }
}
