package import LiveQuery

/// A patch: protocol 3.2 and 3.3.
///
/// It is a class, because a structure with so many lists would be copied when it is passed on.
package final class PatchMessage: Sendable {
  package let from: String
  package let to: String
  package let commit: Int64
  package let total: Int
  /// The values alongside the result; nil if they are unchanged.
  package let alongside: [NamedValue]?
  /// The order of a new query that replaces the former one; nil if it is unchanged.
  package let order: RowOrder?
  package let columns: [String]
  package let patch: Patch
  /// The contents that the patch's indexes refer to, one row for each of `patch.contents`.
  package let rows: PackedRows
  /// For each of these rows, the columns that `updated` and `moved` list. They include all columns that differ.
  package let changed: [ColumnSet]
  /// In a message that was read, the listed columns of each row. If it is empty, `changed` has the columns.
  package let listed: [[Int]]

  package init(
    from: String, to: String, commit: Int64, total: Int, alongside: [NamedValue]? = nil, order: RowOrder? = nil,
    columns: [String], patch: Patch, rows: PackedRows, changed: [ColumnSet], listed: [[Int]] = []
  ) {
    self.from = from
    self.to = to
    self.commit = commit
    self.total = total
    self.alongside = alongside
    self.order = order
    self.columns = columns
    self.patch = patch
    self.rows = rows
    self.changed = changed
    self.listed = listed
  }

  /// The listed columns of a row that is moved or updated, which include all that differ.
  ///
  /// - Parameter contents: the values of all `rows`.
  package func changes(_ change: Patch.Change, in contents: [[SQLValue]]) -> [(column: Int, value: SQLValue)] {
    guard let content = change.content else { return [] }
    let columns = listed.isEmpty ? contents[content].indices.filter(changed[content].contains) : listed[content]
    return columns.map { ($0, contents[content][$0]) }
  }

  func write(to writer: inout JSONWriter, _ shape: Shape) {
    let layout = RowLayout(columns: columns, shape: shape)
    writer.member("from", from)
    writer.member("to", to)
    writer.name("commit")
    writer.integer(commit)
    writer.member("total", total)
    writer.list("deleted", patch.deleted) { $0.path($1) }
    writer.list("sectionsDeleted", patch.sectionsDeleted) { $0.integer($1) }
    writer.list("sectionsInserted", patch.sectionsInserted) { $0.section($1, rows, layout) }
    writer.list("inserted", patch.inserted) { writer, insertion in
      writer.array {
        $0.integer(insertion.path.section)
        $0.integer(insertion.path.item)
        if let content = insertion.content { $0.row(rows, content, layout) }
      }
    }
    writer.list("moved", patch.moved) { $0.change($1, rows, changed, layout) }
    writer.list("updated", patch.updated) { $0.change($1, rows, changed, layout) }
    if let window = patch.window { writer.member("window", window) }
    writer.list("filled", patch.filled) { writer, fill in
      writer.array {
        $0.integer(fill.offset)
        $0.row(rows, fill.content, layout)
      }
    }
    if !patch.totals.isEmpty { writer.member("totals", patch.totals) }
    writer.list("sectionTotals", patch.sectionTotals) { writer, totals in
      writer.array {
        $0.integer(totals.section)
        $0.object { $0.members(totals.changes) }
      }
    }
    if let alongside { writer.member("alongside", alongside) }
    writer.errors(of: patch.totals, alongside ?? [])
    if let order { writer.members(of: order) }
  }
}

extension JSONWriter {
  /// Writes a member, unless it is empty.
  fileprivate mutating func list<Element>(
    _ name: StaticString, _ elements: [Element], _ body: (inout JSONWriter, Element) -> Void
  ) {
    if elements.isEmpty { return }
    self.name(name)
    array { for element in elements { body(&$0, element) } }
  }

  fileprivate mutating func section(_ section: Patch.InsertedSection, _ rows: PackedRows, _ layout: RowLayout) {
    array {
      $0.integer(section.index)
      $0.object {
        $0.members(of: section.info)
        if let contents = section.contents { $0.member("rows", rows, contents, layout) }
      }
    }
  }

  fileprivate mutating func change(
    _ change: Patch.Change, _ rows: PackedRows, _ changed: [ColumnSet], _ layout: RowLayout
  ) {
    array {
      $0.path(change.from)
      $0.path(change.to)
      if let content = change.content {
        $0.changes(rows, content, layout, changed[content])
      } else {
        $0.object { _ in }
      }
    }
  }
}
