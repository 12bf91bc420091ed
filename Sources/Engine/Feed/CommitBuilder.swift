import ChangeCapture
import LiveQuery
import Store

/// Combines the changes of one or several commits, so that it has each row once, with its first and its last state.
///
/// Owner: the feed's thread, in a tick.
struct CommitBuilder {
  private struct Identity: Hashable {
    let table: Int
    let row: ChangedRows.Identity
  }

  private struct Row {
    let table: FeedTable
    let identity: Identity
    var rowid: Int64 { identity.row.rowid }
    var wasThere: Bool
    var isThere: Bool
    var former: PackedValues?
    var present: PackedValues?
    /// The key that capture remembers, if the former or the present row is unknown.
    var knownKey: [SQLValue]?
  }

  private var rows: [Row] = []
  private var places: [Identity: Int] = [:]
  private var unknown: [Int: FeedTable] = [:]
  private var altered: [FeedTable] = []

  var isEmpty: Bool { rows.isEmpty && unknown.isEmpty && altered.isEmpty }

  /// Whether some rows must be looked up, because their present values are unknown.
  var mustLookUp: Bool { rows.contains { $0.isThere && $0.present == nil } }

  mutating func noteAltered(_ table: FeedTable) { altered.append(table) }

  mutating func add(_ delta: ChangedRows, of table: FeedTable) {
    if delta.isUnknown { unknown[table.number] = table }
    for row in delta.rows { add(row, of: delta, table) }
  }

  private mutating func add(_ row: ChangedRows.Row, of delta: ChangedRows, _ table: FeedTable) {
    let (wasThere, isThere) = (row.kind != .insert, row.kind != .delete)
    let identity = Identity(table: table.number, row: delta.identity(of: row))
    let former = wasThere ? values(row.former, of: delta, row.rowid, table) : nil
    let present = isThere ? values(row.record, of: delta, row.rowid, table) : nil
    take(
      Row(
        table: table, identity: identity, wasThere: wasThere, isThere: isThere, former: former, present: present,
        knownKey: (wasThere && former == nil) || (isThere && present == nil) ? table.knownKey(row, of: delta) : nil))
  }

  /// Combines two changes of a row: keeps the first former state and the last present state.
  private mutating func take(_ row: Row) {
    guard let place = places[row.identity] else {
      places[row.identity] = rows.count
      rows.append(row)
      return
    }
    rows[place].isThere = row.isThere
    rows[place].present = row.present
    rows[place].knownKey = rows[place].knownKey ?? row.knownKey
  }

  private func values(
    _ record: Range<Int>, of delta: ChangedRows, _ rowid: Int64, _ table: FeedTable
  ) -> PackedValues? {
    guard !record.isEmpty, let records = delta.records else { return nil }
    var row = table.row.row(of: records.record(record), rowid: rowid)
    // Unused capacity is freed, because the row may be remembered for long.
    row?.trim()
    return row
  }

  /// Adds later changes.
  mutating func merge(_ later: CommitBuilder) {
    altered += later.altered
    unknown.merge(later.unknown) { first, _ in first }
    for row in later.rows { take(row) }
  }

  /// The most rows that a tick looks up. If there are more, the table's changed rows are reported as unknown.
  private static let mostLookedUp = 100_000

  /// Looks up rows whose records do not have all values, in the state after the last of the commits.
  mutating func lookUp() throws {
    var left = Self.mostLookedUp
    for place in rows.indices where rows[place].isThere && rows[place].present == nil {
      let row = rows[place]
      left -= 1
      if left < 0 {
        unknown[row.table.number] = row.table
        continue
      }
      if let found = try row.table.lookUp(rowid: row.rowid, key: row.knownKey) {
        rows[place].present = found.row
      } else {
        unknown[row.table.number] = row.table
      }
    }
  }

  // MARK: - The result

  /// The combined changes: first those of whole tables, then deletions, updates and insertions.
  func finish() -> [LoggedChange] {
    var changes = altered.map { LoggedChange(table: $0, operation: .schema) }
    let alteredTables = Set(altered.map(\.number))
    changes += unknown.values.filter { !alteredTables.contains($0.number) }
      .map { LoggedChange(table: $0, operation: .unknown) }
    let hidden = alteredTables.union(unknown.keys)
    var (deletions, updates, insertions) = ([LoggedChange](), [LoggedChange](), [LoggedChange]())
    for row in rows where !hidden.contains(row.table.number) {
      if let former = row.former, let present = row.present, former == present { continue }
      switch (row.wasThere, row.isThere) {
      case (false, false): break
      case (true, false): deletions.append(deletion(row))
      case (false, true): insertions.append(insertion(row))
      case (true, true):
        let (deletion, insertion) = (deletion(row), insertion(row))
        if deletion.key == insertion.key {
          updates.append(update(deletion, insertion))
        } else {
          // A row with a changed key counts as a different row.
          deletions.append(deletion)
          insertions.append(insertion)
        }
      }
    }
    pair(&deletions, &updates, &insertions)
    return changes + deletions + updates + insertions
  }

  private func deletion(_ row: Row) -> LoggedChange {
    let key = row.former.map { row.table.key($0, rowid: row.rowid) } ?? row.knownKey ?? []
    return LoggedChange(table: row.table, operation: .delete, rowid: row.rowid, key: key, former: row.former)
  }

  private func insertion(_ row: Row) -> LoggedChange {
    let key = row.present.map { row.table.key($0, rowid: row.rowid) } ?? []
    return LoggedChange(table: row.table, operation: .insert, rowid: row.rowid, key: key, present: row.present)
  }

  private func update(_ deletion: LoggedChange, _ insertion: LoggedChange) -> LoggedChange {
    LoggedChange(
      table: insertion.table, operation: .update, rowid: insertion.rowid, key: insertion.key, former: deletion.former,
      present: insertion.present)
  }

  private struct RowKey: Hashable {
    let table: Int
    let key: [SQLValue]
  }

  /// Pairs deletions and insertions with the same key, because `REPLACE` gives a row another rowid.
  private func pair(
    _ deletions: inout [LoggedChange], _ updates: inout [LoggedChange], _ insertions: inout [LoggedChange]
  ) {
    let isPaired: (LoggedChange) -> Bool = { $0.table.row.storage.keyFields != nil && !$0.key.contains(.null) }
    if deletions.isEmpty || !insertions.contains(where: isPaired) { return }
    var deleted: [RowKey: Int] = [:]
    for (place, change) in deletions.enumerated() where isPaired(change) {
      deleted[RowKey(table: change.table.number, key: change.key)] = place
    }
    var pairedPlaces: Set<Int> = []
    insertions.removeAll { insertion in
      guard isPaired(insertion),
        let place = deleted.removeValue(forKey: RowKey(table: insertion.table.number, key: insertion.key))
      else { return false }
      pairedPlaces.insert(place)
      if deletions[place].former != insertion.present { updates.append(update(deletions[place], insertion)) }
      return true
    }
    if !pairedPlaces.isEmpty {
      deletions = deletions.enumerated().filter { !pairedPlaces.contains($0.offset) }.map(\.element)
    }
  }
}
