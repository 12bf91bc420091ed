import CSQLite
import LiveQuery

// Encodes keys of a statement's current row.
extension PreparedStatement {
  /// Appends a value of the current row to an encoded key.
  ///
  /// BINARY compares text in the database's encoding; for NOCASE and RTRIM, SQLite converts it to UTF-8 first.
  ///
  /// - Parameter encoding: the database's encoding. Reading a value as UTF-8 converts SQLite's own copy of it, and all
  ///   later rows use the same copy of a constant.
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
  ///   - orders: the orders of the columns from `first` on.
  ///   - key: replaced by the encoded key.
  package func readKey(_ orders: [FieldOrder], from first: Int = 0, _ encoding: TextEncoding, into key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    for (place, order) in orders.enumerated() {
      PreparedStatement.appendKey(handle, Int32(first + place), order, encoding, to: &key)
    }
  }
}
