import ChangeCapture

extension [TableDelta] {
  /// Of each row, what happened to it last.
  var lastOfEachRow: [(row: TableDelta.Row, delta: TableDelta)] {
    if let only = first, count == 1 { return only.rows.map { ($0, only) } }
    var known: Set<RowKey> = []
    var rows: [(row: TableDelta.Row, delta: TableDelta)] = []
    for delta in reversed() {
      for row in delta.rows.reversed() where known.insert(RowKey(row, delta)).inserted { rows.append((row, delta)) }
    }
    return rows.reversed()
  }
}

private struct RowKey: Hashable {
  let rowid: Int64
  let key: [UInt8]

  init(_ row: TableDelta.Row, _ delta: TableDelta) {
    rowid = row.rowid
    key = Array(delta.bytes[row.key])
  }
}
