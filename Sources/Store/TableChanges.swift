import LiveQuery

/// What the change log tells of one table, row by row, since the last tick.
package struct TableChanges {
  package struct RowChange {
    /// Columns that may have changed; all when the row came or went.
    package var columns: ColumnMask
    /// Those of them of which the row had another value before: none when it only came.
    package var oldColumns: ColumnMask

    fileprivate static let none = RowChange(columns: ColumnMask(rawValue: 0), oldColumns: ColumnMask(rawValue: 0))

    fileprivate mutating func add(columns more: ColumnMask, oldColumns moreOld: ColumnMask) {
      columns = ColumnMask(rawValue: columns.rawValue | more.rawValue)
      oldColumns = ColumnMask(rawValue: oldColumns.rawValue | moreOld.rawValue)
    }
  }

  /// By encoded key.
  package private(set) var rows: [[UInt8]: RowChange] = [:]
  /// Former states of rows: their key, and the values of the captured columns when the log has them.
  private(set) var old: [(key: [UInt8], values: PackedValues)] = []

  package init() {}

  /// Takes in one row of the log.
  package mutating func note(_ change: borrowing ChangeRow, of table: TrackedTable, encoding: TextEncoding) {
    var key: [UInt8] = []
    for position in 0..<table.key.count {
      PreparedStatement.appendKey(change.statement, table.keyColumn(position), .identity, encoding, to: &key)
    }
    // Where no columns are captured, an INSERT may have replaced a row of its key without a word.
    let mayReplace = change.operation == .insert && table.captured.isEmpty
    let isEnd = change.operation == .delete || change.operation == .displace || mayReplace
    let hasValues = change.hasOldValues(of: table)
    if isEnd || hasValues {
      var values = PackedValues()
      if hasValues {
        for position in table.captured.indices {
          values.append(PreparedStatement.value(change.statement, table.oldColumn(position)))
        }
      }
      old.append((key, values))
    }
    let oldColumns = change.operation == .insert && !mayReplace ? ColumnMask(rawValue: 0) : change.columns
    rows[key, default: .none].add(columns: change.columns, oldColumns: oldColumns)
  }

  package var count: Int { rows.count }

  /// Whether any row changed in these columns, came or went.
  package func meets(_ columns: ColumnMask) -> Bool {
    rows.values.contains { $0.columns == .all || $0.columns.intersects(columns) }
  }
}
