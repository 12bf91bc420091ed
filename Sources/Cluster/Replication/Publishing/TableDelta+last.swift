import ChangeCapture

extension [TableDelta] {
  /// Of each row, what happened to it last.
  var lastOfEachRow: [(row: TableDelta.Row, delta: TableDelta)] {
    if let only = first, count == 1 { return only.rows.map { ($0, only) } }
    var known: Set<TableDelta.Identity> = []
    var rows: [(row: TableDelta.Row, delta: TableDelta)] = []
    for delta in reversed() {
      for row in delta.rows.reversed() where known.insert(delta.identity(of: row)).inserted {
        rows.append((row, delta))
      }
    }
    return rows.reversed()
  }
}
