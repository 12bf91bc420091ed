import LiveQuery

/// The contents of a whole result. They are kept if rows cannot be looked up one by one, or would not be the same
/// twice.
struct FetchedContents {
  private var rows: PackedRows
  /// For each offset in the result, the index of its row in `rows`.
  var order: [Int32] = []

  init(columnCount: Int = 0) { rows = PackedRows(columnCount: columnCount) }

  var byteCount: Int { rows.byteCount }
  var columnCount: Int { rows.columnCount }

  /// Appends the row that was read last, which must still be the statement's current row.
  mutating func append(_ row: ReadRow) { rows.appendRow { row.appendContents(to: &$0) } }

  /// Frees unused capacity, once all rows have been appended.
  mutating func trim() { rows.trim() }

  /// The columns in which a row differs between two fetches.
  func changedColumns(at offset: Int, to other: Int, of fetched: FetchedContents) -> ColumnSet {
    var set = ColumnSet()
    rows.withRow(Int(order[offset])) { before in
      fetched.rows.withRow(Int(fetched.order[other])) { after in
        for column in 0..<rows.columnCount where !before.skipEqual(&after) { set.insert(column) }
      }
    }
    return set
  }

  /// Copies the row at an offset.
  func append(_ offset: Int, to packed: inout PackedRows) {
    packed.appendRow(copying: Int(order[offset]), of: rows)
  }
}
