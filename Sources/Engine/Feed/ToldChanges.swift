import LiveQuery
import RankedCollections

/// Changes that readers got after the kept state was made: for each row, the last values that they know.
struct ToldChanges {
  private struct RowKey: Hashable {
    let table: Int
    let key: [SQLValue]
  }

  private struct Told {
    let table: FeedTable
    let rowid: Int64
    /// The row; nil if readers know that it was deleted.
    let row: PackedValues?
  }

  private var rows: [RowKey: Told] = [:]
  private var unknown: [Int: FeedTable] = [:]

  init(_ commits: some Sequence<LoggedCommit>) {
    for change in commits.lazy.flatMap(\.changes) {
      switch change.operation {
      case .schema, .unknown: unknown[change.table.number] = change.table
      case .insert, .update, .delete:
        // Rows with NULL in their key cannot be distinguished.
        if change.key.contains(.null) { unknown[change.table.number] = change.table }
        rows[RowKey(table: change.table.number, key: change.key)] = Told(
          table: change.table, rowid: change.rowid, row: change.present)
      }
    }
  }

  /// The changes since the last message to readers.
  ///
  /// - Parameters:
  ///   - changes: the changes since the kept state.
  ///   - lookUp: returns the row that has a key now.
  func continued(
    by changes: [LoggedChange], lookUp: (FeedTable, [SQLValue]) throws -> (rowid: Int64, row: PackedValues)?
  ) throws -> [LoggedChange] {
    if rows.isEmpty, unknown.isEmpty { return changes }
    var hidden = unknown
    for change in changes where change.operation == .unknown || change.operation == .schema {
      hidden[change.table.number] = change.table
    }
    var result = changes.filter { $0.operation == .schema }
    let altered = Set(result.map(\.table.number))
    result += hidden.values.filter { !altered.contains($0.number) }.map { LoggedChange(table: $0, operation: .unknown) }
    var rest = rows.filter { hidden[$0.key.table] == nil }
    for change in changes where hidden[change.table.number] == nil {
      guard let told = rest.removeValue(forKey: RowKey(table: change.table.number, key: change.key)) else {
        result.append(change)
        continue
      }
      if let change = Self.change(told, change.key, change.present.map { (change.rowid, $0) }) { result.append(change) }
    }
    for (key, told) in rest {
      if let change = Self.change(told, key.key, try lookUp(told.table, key.key)) { result.append(change) }
    }
    return result.filter { $0.operation == .schema || $0.operation == .unknown }
      + result.filter { $0.operation == .delete } + result.filter { $0.operation == .update }
      + result.filter { $0.operation == .insert }
  }

  private static func change(
    _ told: Told, _ key: [SQLValue], _ now: (rowid: Int64, row: PackedValues)?
  ) -> LoggedChange? {
    switch (told.row, now) {
    case (nil, nil): return nil
    case (nil, let now?):
      return LoggedChange(table: told.table, operation: .insert, rowid: now.rowid, key: key, present: now.row)
    case (let former?, nil):
      return LoggedChange(table: told.table, operation: .delete, rowid: told.rowid, key: key, former: former)
    case (let former?, let now?):
      if former == now.row { return nil }
      return LoggedChange(
        table: told.table, operation: .update, rowid: now.rowid, key: key, former: former, present: now.row)
    }
  }
}
