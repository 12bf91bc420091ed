import CSQLite
import ChangeCapture

/// The changed rows of a table as they were and as they are, in the form that a virtual table shows.
///
/// Owner: the thread of the connection.
final class SignedBuffer {
  @exclusivity(unchecked) private(set) var values: UnsafeMutablePointer<sqlite_row_value>?
  @exclusivity(unchecked) private(set) var rowids: UnsafeMutablePointer<Int64>?
  @exclusivity(unchecked) private(set) var signs: UnsafeMutablePointer<Int8>?
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private var capacity = 0
  /// The loaded changes, and whether they are complete.
  @exclusivity(unchecked) var changes: ChangedRows?
  @exclusivity(unchecked) var columns = ColumnMask.none
  @exclusivity(unchecked) var isKnown = false

  deinit { deallocate() }

  private func deallocate() {
    values?.deallocate()
    rowids?.deallocate()
    signs?.deallocate()
  }

  private func reserve(_ rows: Int, _ columns: Int) {
    if rows <= capacity { return }
    deallocate()
    capacity = max(rows, capacity * 2)
    values = .allocate(capacity: capacity * max(columns, 1))
    rowids = .allocate(capacity: capacity)
    signs = .allocate(capacity: capacity)
  }

  /// - Returns: false if a row is unknown.
  func load(_ changes: ChangedRows, in columns: ColumnMask, _ decoder: RecordDecoder, isUTF16: Bool) -> Bool {
    count = 0
    if changes.isUnknown { return false }
    reserve(changes.rows.count * 2, decoder.columnCount)
    for row in changes.rows where row.meets(columns) {
      let isKnown =
        (row.kind == .insert || add(changes.record(row.former), row.rowid, -1, decoder, isUTF16))
        && (row.kind == .delete || add(changes.record(row.record), row.rowid, 1, decoder, isUTF16))
      if !isKnown { return false }
    }
    return true
  }

  private func add(
    _ record: UnsafeRawBufferPointer?, _ rowid: Int64, _ sign: Int8, _ decoder: RecordDecoder, _ isUTF16: Bool
  ) -> Bool {
    guard let record, let values, let rowids, let signs,
      decoder.decode(record, rowid: rowid, isUTF16: isUTF16, into: values + count * decoder.columnCount)
    else { return false }
    (rowids[count], signs[count]) = (rowid, sign)
    count += 1
    return true
  }

  /// Removes all rows at the end of the tick, because their records do not outlive it.
  func removeAll() {
    changes = nil
    count = 0
    if capacity <= SignedBuffer.mostKept { return }
    deallocate()
    (values, rowids, signs, capacity) = (nil, nil, nil, 0)
  }

  /// The number of rows whose memory is kept for later ticks.
  private static let mostKept = 2_048
}
