import FreshetResults
import LiveQuery
import Wire

extension ListMessage {
  /// What a follower sends. Nil for what concerns no list.
  init?(_ message: ServerMessage) {
    switch message {
    case .snapshot(let snapshot): self = .snapshot(ListSnapshot(snapshot))
    case .rows(let rows):
      self = .rows(
        ListRows(
          version: rows.version, window: rows.window, offset: rows.offset,
          rows: rows.rows.values(rows.range), isComplete: rows.isComplete))
    case .patch(let patch): self = .patch(ListPatch(patch))
    case .located(_, let place): self = .located(place?.path)
    case .error(let error, let isFatal): self = .error(error, isFatal: isFatal)
    case .unsubscribed, .committed, .pong, .authenticated: return nil
    }
  }
}

extension ListSnapshot {
  fileprivate init(_ snapshot: Snapshot) {
    self.init(
      version: snapshot.version, commit: snapshot.commit, columns: snapshot.columns, key: snapshot.key,
      total: snapshot.total, sections: snapshot.sections.infos, window: snapshot.window,
      alongside: snapshot.alongside, order: snapshot.order,
      rows: ListRows(
        version: snapshot.version, window: nil, offset: snapshot.offset + snapshot.range.lowerBound,
        rows: snapshot.rows.values(snapshot.range), isComplete: snapshot.isComplete))
  }
}

extension ListPatch {
  fileprivate init(_ message: PatchMessage) {
    let patch = message.patch
    let rows = message.rows.values(0..<message.rows.count)
    self.init(from: message.from, to: message.to, commit: message.commit, total: message.total)
    deleted = patch.deleted
    sectionsDeleted = patch.sectionsDeleted
    sectionsInserted = patch.sectionsInserted.map { section in
      InsertedSection(index: section.index, info: section.info, rows: section.contents.map { Array(rows[$0]) })
    }
    inserted = patch.inserted.map { Insertion(path: $0.path, row: $0.content.map { rows[$0] }) }
    let change = { (change: Patch.Change) in
      guard let content = change.content else { return Change(from: change.from, to: change.to, values: []) }
      let changed = message.changed[content]
      let values = rows[content].enumerated().filter { changed.contains($0.offset) }
      return Change(from: change.from, to: change.to, values: values.map { ($0.offset, $0.element) })
    }
    moved = patch.moved.map(change)
    updated = patch.updated.map(change)
    window = patch.window
    filled = patch.filled.map { ($0.offset, rows[$0.content]) }
    alongside = message.alongside ?? []
    order = message.order
  }
}

extension PackedRows {
  /// The values of rows in a range.
  fileprivate func values(_ range: Range<Int>) -> [[SQLValue]] {
    var rows: [[SQLValue]] = []
    rows.reserveCapacity(range.count)
    forEachRow(in: range) { reader in
      var row: [SQLValue] = []
      row.reserveCapacity(columnCount)
      for _ in 0..<columnCount { row.append(reader.next().value) }
      rows.append(row)
    }
    return rows
  }
}
