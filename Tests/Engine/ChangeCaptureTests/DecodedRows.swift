import CSQLite
import Ground
import LiveQuery

@testable import ChangeCapture
@testable import Store

/// Compares records from the capture, as decoded, with the rows of SELECT in the same snapshot.
struct DecodedRows {
  /// Records that were decoded, and those that the decoder was not certain of.
  private(set) var known = 0
  private(set) var unknown = 0

  /// - Parameters:
  ///   - key: the key of a row in `now`.
  ///   - now: the table's contents.
  /// - Returns: the errors.
  mutating func compare(
    _ delta: ChangedRows, _ storage: TableStorage?, _ now: TableContents, encoding: String,
    key: (ChangedRows.Row) -> TableContents.Bytes
  ) -> [String] {
    guard let storage, storage.computedColumns == .none, let records = delta.records else { return [] }
    let decoder = storage.decoder
    var wrong: [String] = []
    let values = UnsafeMutablePointer<sqlite_row_value>.allocate(capacity: decoder.columnCount)
    defer { values.deallocate() }
    for row in delta.rows where row.kind != .delete {
      guard !row.record.isEmpty,
        decoder.decode(
          records.record(row.record), rowid: row.rowid, isUTF16: encoding != "UTF-8", into: values)
      else {
        unknown += 1
        continue
      }
      known += 1
      let decoded = (0..<decoder.columnCount).map { TableContents.Bytes(values[$0], encoding: encoding) }
      if now.rows[key(row)]?.columns != decoded { wrong.append("the record of \(key(row).storage) is another row's") }
    }
    return wrong
  }
}

extension TableContents.Bytes {
  init(_ value: sqlite_row_value, encoding: String) {
    self.init()
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: value.bytes, count: Int(value.length)) }
    switch value.type {
    case SQLITE_INTEGER: append(.integer(value.number), encoding: encoding)
    case SQLITE_FLOAT: append(.real(Double(bitPattern: UInt64(bitPattern: value.number))), encoding: encoding)
    case SQLITE_TEXT: append(.text(bytes), encoding: encoding)
    case SQLITE_BLOB: append(.blob(bytes), encoding: encoding)
    default: append(.null, encoding: encoding)
    }
  }
}
