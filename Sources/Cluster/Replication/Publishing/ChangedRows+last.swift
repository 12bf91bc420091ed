import ChangeCapture

extension [ChangedRows] {
  /// The last change of each row.
  var lastOfEachRow: [(row: ChangedRows.Row, delta: ChangedRows)] {
    if let only = first, count == 1 { return only.rows.map { ($0, only) } }
    var known: Set<ChangedRows.Identity> = []
    var rows: [(row: ChangedRows.Row, delta: ChangedRows)] = []
    for delta in reversed() {
      for row in delta.rows.reversed() where known.insert(delta.identity(of: row)).inserted {
        rows.append((row, delta))
      }
    }
    return rows.reversed()
  }
}
