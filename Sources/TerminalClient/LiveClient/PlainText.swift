import LiveQuery
import Wire

/// A list and its changes as lines of text, for a file or a pipe: values between tabs, one row a line.
///
/// `# name (count)` begins a section. A patch begins with `@ commit N, N rows`; then `-` and `+` are rows that went and came, `>`
/// rows that moved, `*` rows that changed in place, `-#` and `+#` sections, `=` values beside the list.
package enum PlainText {
  package static func lines(_ list: LiveList) -> [String] {
    var lines = [list.columns.map { CellText.text(.string($0)) }.joined(separator: "\t")]
    var section = -1
    list.forEach(in: list.visible) { path, _ in
      if path.section != section {
        section = path.section
        if list.hasSections { lines.append("# \(list.title(ofSection: section))") }
      }
      lines.append(list.row(path).map(text) ?? "…")
    }
    return lines + list.alongside.keys.sorted().map { "= \(alongside($0, list))" }
  }

  package static func lines(_ patch: ListPatch, _ list: LiveList) -> [String] {
    var lines = ["@ commit \(list.commit), \(list.total) \(list.total == 1 ? "row" : "rows")"]
    lines += patch.sectionsDeleted.map { "-# [\($0.index)] \(CellText.text($0.name))" }
    lines += patch.deleted.map { "- \(text($0.path))" + ($0.row.map { " " + text($0) } ?? "") }
    for section in patch.sectionsInserted {
      lines.append("+# [\(section)] \(list.title(ofSection: section))")
      for item in list.sections[section].rows.indices { lines += added(IndexPath(section: section, item: item), list) }
    }
    lines += patch.inserted.flatMap { added($0, list, isOutsideToo: true) }
    lines += patch.moved.map { "> \(text($0.from)) \(text($0.to))\(changes($0, list))" }
    lines += patch.updated.map { "* \(text($0.to))\(changes($0, list))" }
    return lines + patch.alongside.map { "= \(alongside($0, list))" }
  }

  private static func text(_ row: LiveList.Row) -> String {
    row.map { CellText.text($0) }.joined(separator: "\t")
  }

  private static func text(_ path: IndexPath) -> String { "[\(path.section),\(path.item)]" }

  private static func added(_ path: IndexPath, _ list: LiveList, isOutsideToo: Bool = false) -> [String] {
    guard let row = list.row(path) else { return isOutsideToo ? ["+ \(text(path))"] : [] }
    return ["+ \(text(path)) \(text(row))"]
  }

  private static func changes(_ move: ListPatch.Move, _ list: LiveList) -> String {
    guard let row = list.row(move.to) else { return "" }
    return move.columns.map { " \(list.columns[$0])=\(CellText.text(row[$0]))" }.joined()
  }

  private static func alongside(_ name: String, _ list: LiveList) -> String {
    "\(name)=\(CellText.text(list.alongside[name] ?? .null))"
  }
}

extension LiveList {
  /// Whether the query cuts its result into sections: one that does not has a single one without a name.
  package var hasSections: Bool { sections.count != 1 || sections[0].name != .string("") }

  /// `name (count)`.
  func title(ofSection section: Int) -> String {
    "\(CellText.text(sections[section].name, limit: 200)) (\(sections[section].rows.count))"
  }
}
