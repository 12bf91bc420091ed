import Foundation
import LiveQuery
import TestSupport
import Wire

@testable import FreshetResults

/// A model of a table, a server's messages about a list of it, and changes. It always sorts all rows.
enum OverlayWorld {
  typealias Row = [SQLValue]
  typealias Table = [Int64: Row]
  typealias Sections = [(name: SQLValue, rows: [Row])]

  static let columns = ["id", "name", "state"]
  private static let names: [SQLValue] = [nil, "a", "A", "a ", "b", "B ", "é", "", 1, 2.5, -3]
  private static let states: [SQLValue] = ["x", "y", "z", nil]

  static func row(_ id: Int64, _ generator: inout SeededGenerator) -> Row {
    [.integer(id), names.randomElement(using: &generator)!, states.randomElement(using: &generator)!]
  }

  static func change(_ generator: inout SeededGenerator) -> OptimisticChange {
    let row = row(.random(in: 0..<16, using: &generator), &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return .delete(["id": row[0]])
    case 1: return .insert(["id": row[0], "name": row[1], "state": row[2]])
    case 2: return .update(["id": row[0], "state": row[2]])
    case 3: return .update(["id": row[0], "name": row[1], "state": row[2]])
    default: return .update(["id": row[0], "name": row[1]])
    }
  }

  static func apply(_ changes: [OptimisticChange], to rows: inout Table) {
    for change in changes {
      guard let id = change.id else { continue }
      rows[id] = apply(change, to: rows[id])
    }
  }

  static func apply(_ change: OptimisticChange, to row: Row?) -> Row? {
    switch change {
    case .delete: nil
    case .insert(let new): columns.map { new[$0] ?? .null }
    case .update(let new): row.map { zip(columns, $0).map { new[$0] ?? $1 } }
    }
  }

  /// Applies the first write on the server, or another client's.
  static func write(
    _ changes: inout [LaidChange], to server: inout Table, commit: Int64, _ generator: inout SeededGenerator
  ) {
    if Bool.random(using: &generator), let index = changes.firstIndex(where: { $0.commit == nil }) {
      apply(changes[index].changes, to: &server)
      changes[index].commit = commit
    } else {
      apply([change(&generator)], to: &server)
    }
  }

  static func sections(_ rows: some Sequence<Row>, _ order: RowOrder) -> Sections {
    let isSectioned = order.section != nil
    let order = Ordering(order, columns: columns)
    func isBefore(_ left: Row, _ right: Row) -> Bool {
      let first = order.section.map { $0.compare(left[2], right[2]) } ?? 0
      return first == 0 ? (order.compare(left, right) ?? (left.id < right.id ? -1 : 1)) < 0 : first < 0
    }
    let sorted = rows.sorted(by: isBefore)
    guard isSectioned else { return [(.text(""), sorted)] }
    var sections: Sections = []
    for row in sorted {
      if sections.last?.name != row[2] { sections.append((row[2], [])) }
      sections[sections.count - 1].rows.append(row)
    }
    return sections
  }

  static func snapshot(
    _ table: Table, _ order: RowOrder, commit: Int64, _ window: Window?
  ) -> ListMessage {
    let sections = sections(table.values, order)
    let rows = rows(sections, window, version: "\(commit)")
    return .snapshot(
      Snapshot(
        version: "\(commit)", commit: commit, columns: columns, key: ["id"], total: table.count,
        sections: SectionList(sections.map { SectionInfo(name: $0.name, indexTitle: "", count: $0.rows.count) }),
        window: window, offset: rows.offset, rows: rows.rows, range: rows.range, order: order))
  }

  /// The contents of a window, as the answer to a request for it.
  static func rows(_ sections: Sections, _ window: Window?, version: String) -> RowsMessage {
    let all = sections.flatMap(\.rows)
    let range = window?.range(total: all.count) ?? all.indices
    return RowsMessage(
      version: version, columns: columns, window: window, offset: range.lowerBound, rows: packed(all[range]),
      range: 0..<range.count)
  }

  private static func packed(_ rows: some Sequence<Row>) -> PackedRows {
    var packed = PackedRows(columnCount: columns.count)
    for row in rows { packed.appendRow { for value in row { $0.append(value) } } }
    return packed
  }

  /// The patch between two states: rows that differ move, or are deleted and inserted.
  static func message(
    _ before: Table, _ after: Table, _ order: RowOrder, commit: Int64, from: String,
    _ window: inout Window?, _ generator: inout SeededGenerator
  ) -> ListMessage {
    let (old, new) = (sections(before.values, order), sections(after.values, order))
    let (oldRows, newRows) = (old.flatMap(\.rows), new.flatMap(\.rows))
    let (oldNames, newNames) = (old.map(\.name), new.map(\.name))
    let held = Set(oldRows[window?.range(total: oldRows.count) ?? oldRows.indices].map(\.id))
    var patch = Patch()
    var contents: [Row] = []
    func content(_ rows: Row...) -> Int {
      contents += rows
      return contents.count - 1
    }
    patch.sectionsDeleted = oldNames.indices.filter { !newNames.contains(oldNames[$0]) }.reversed()
    var origins: [Int64: LiveQuery.IndexPath] = [:]
    for (section, part) in old.enumerated() where newNames.contains(part.name) {
      for (item, row) in part.rows.enumerated() where after[row.id] != row {
        let stays = after[row.id].map { new in oldNames.contains { $0 == new.sectionName(order) } } ?? false
        let path = LiveQuery.IndexPath(section: section, item: item)
        if stays && Bool.random(using: &generator) { origins[row.id] = path } else { patch.deleted.append(path) }
      }
    }
    patch.deleted.reverse()
    if let last = window {
      let range = last.range(total: oldRows.count)
      let anchor = oldRows[range].first { after[$0.id] == $0 }.map(\.id)
      let offset = anchor.flatMap { id in newRows.firstIndex { $0.id == id } } ?? min(last.offset, newRows.count)
      window = Window(offset: last.offset == 0 ? 0 : offset, limit: last.limit)
    }
    let shown = window?.range(total: newRows.count) ?? newRows.indices
    var given = held
    var offset = 0
    for (section, part) in new.enumerated() {
      let isNew = !oldNames.contains(part.name)
      if isNew {
        let info = SectionInfo(name: part.name, indexTitle: "", count: part.rows.count)
        let start = contents.count
        if window == nil { contents += part.rows }
        patch.sectionsInserted.append(
          .init(index: section, info: info, contents: window == nil ? start..<contents.count : nil))
      }
      for (item, row) in part.rows.enumerated() {
        let path = LiveQuery.IndexPath(section: section, item: item)
        let isShown = shown.contains(offset)
        if before[row.id] != row || isNew {
          if isNew {
            given.remove(row.id)
          } else if let origin = origins[row.id] {
            patch.moved.append(.init(from: origin, to: path, content: held.contains(row.id) ? content(row) : nil))
          } else {
            patch.inserted.append(.init(path: path, content: isShown ? content(row) : nil))
            given.insert(row.id)
          }
        }
        if window != nil && isShown && !given.contains(row.id) { patch.filled.append((offset, content(row))) }
        offset += 1
      }
    }
    patch.window = window
    return .patch(
      PatchMessage(
        from: from, to: "\(commit)", commit: commit, total: after.count, columns: columns,
        patch: patch, rows: packed(contents), changed: contents.map { _ in .all }))
  }
}

extension RowOrder {
  /// - Parameter terms: the terms before the key.
  init(_ terms: [Term], section: Term? = nil) {
    self.init()
    self.terms = terms + [.by("id")]
    self.section = section
  }
}

extension RowOrder.Term {
  static func by(
    _ column: String?, _ collation: LiveQuery.Collation = .binary, isDescending: Bool = false,
    areNullsFirst: Bool? = nil
  ) -> Self {
    var term = Self()
    (term.column, term.collation, term.isDescending) = (column, collation, isDescending)
    term.areNullsFirst = areNullsFirst ?? !isDescending
    return term
  }
}

extension OptimisticChange {
  var id: Int64? { if case .integer(let id)? = row["id"] { id } else { nil } }
}

extension [SQLValue] {
  var id: Int64 { if case .integer(let id) = self[0] { id } else { -1 } }

  fileprivate func sectionName(_ order: RowOrder) -> SQLValue { order.section == nil ? "" : self[2] }
}

extension ResultsPatch {
  /// The error in a patch between two states; nil: none. A row outside the window is nil.
  func problem(from old: SectionedResults<ResultRow>, to new: SectionedResults<ResultRow>) -> String? {
    var rows = old.sections.map { Array($0.rows) }
    for path in (deletions + moves.map(\.from)).sorted(by: >) { rows[path.section].remove(at: path.item) }
    for index in deletedSections.reversed() { rows.remove(at: index) }
    for index in insertedSections { rows.insert(Array(new.sections[index].rows), at: index) }
    for path in (insertions + moves.map(\.to)).sorted() {
      guard rows.indices.contains(path.section), path.item <= rows[path.section].count else {
        return "no place at \(path)"
      }
      rows[path.section].insert(new.sections[path.section].rows[path.item], at: path.item)
    }
    for change in moves + updates {
      if let before = old.rowIfLoaded(at: change.from), let after = new.rowIfLoaded(at: change.to),
        before.values[0] != after.values[0]
      {
        return "another row is updated or moves"
      }
    }
    for path in updates.map(\.to) + loaded {
      guard new.contains(path), rows.indices.contains(path.section), rows[path.section].indices.contains(path.item),
        new.rowIfLoaded(at: path) != nil
      else { return "no row at \(path)" }
      rows[path.section][path.item] = new.sections[path.section].rows[path.item]
    }
    if let window = new.window {
      var offset = 0
      for section in rows.indices {
        for item in rows[section].indices {
          if !window.contains(offset) { rows[section][item] = nil }
          offset += 1
        }
      }
    }
    func text(_ entry: SectionedResults<ResultRow>.Entry?) -> String {
      entry.map { "\($0.row) \($0.pending as Any)" } ?? "-"
    }
    let (mine, theirs) = (rows.map { $0.map(text) }, new.sections.map { $0.rows.map(text) })
    return mine == theirs ? nil : "\(mine) instead of \(theirs)"
  }
}
