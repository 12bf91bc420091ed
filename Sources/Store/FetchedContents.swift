import LiveQuery

/// The contents of a whole result, kept where rows cannot be looked up one by one, or would not be the same twice.
struct FetchedContents {
  private var rows: PackedRows
  /// By offset in the result, which of `rows`.
  var order: [Int32] = []

  init(columnCount: Int = 0) { rows = PackedRows(columnCount: columnCount) }

  var byteCount: Int { rows.byteCount }

  mutating func append(_ statement: PreparedStatement, from first: Int) {
    let count = rows.columnCount
    rows.appendRow { values in
      for column in 0..<count { values.append(statement.value(first + column)) }
    }
  }

  /// Copies the row at an offset.
  func append(_ offset: Int, to packed: inout PackedRows) {
    packed.appendRow(copying: Int(order[offset]), of: rows)
  }
}
