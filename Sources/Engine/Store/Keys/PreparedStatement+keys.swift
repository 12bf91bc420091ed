import CSQLite
import LiveQuery

// Keys of the row that a statement stands on.
extension PreparedStatement {
  /// Appends a value of the current row to an encoded key.
  ///
  /// BINARY compares text in the database's own encoding; NOCASE and RTRIM have SQLite convert it to UTF-8 first.
  ///
  /// - Parameter encoding: the database's. Reading a value as UTF-8 converts SQLite's own copy, which for a
  ///   constant serves all later rows.
  @inline(__always)
  package static func appendKey(
    _ handle: OpaquePointer, _ column: Int32, _ order: FieldOrder, _ encoding: TextEncoding, to bytes: inout [UInt8]
  ) {
    if encoding != .utf8, order.collation == .binary, sqlite3_column_type(handle, column) == SQLITE_TEXT {
      let text = encoding.bytes(of: handle, column)
      text.withUnsafeBytes { KeyEncoder.append(.text($0), order, to: &bytes) }
    } else {
      KeyEncoder.append(value(handle, column), order, to: &bytes)
    }
  }

  /// Encodes values of the current row as a key.
  ///
  /// - Parameters:
  ///   - orders: of the columns from `first` on.
  ///   - key: its contents are replaced.
  package func readKey(_ orders: [FieldOrder], from first: Int = 0, _ encoding: TextEncoding, into key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    for (place, order) in orders.enumerated() {
      PreparedStatement.appendKey(handle, Int32(first + place), order, encoding, to: &key)
    }
  }
}
