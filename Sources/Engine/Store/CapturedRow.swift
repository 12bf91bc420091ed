import CSQLite
import ChangeCapture
package import LiveQuery
import RankedCollections

/// A virtual table on a connection that shows one row of a table, present or former. With it, SQLite evaluates
/// expressions over rows that are in no file.
///
/// Rows are packed values, one for each column. Text is always in UTF-8.
///
/// Owner: the connection's thread. To be dropped or released before the connection is closed.
package final class CapturedRow {
  package let table: DatabaseSchema.Table
  package let storage: TableStorage
  /// Nil if records do not have all values of a row.
  private let decoder: RecordDecoder?
  private let encoding: TextEncoding
  private let connection: OpaquePointer
  private let module: OpaquePointer
  private let values: UnsafeMutablePointer<sqlite_row_value>
  private let rowid: UnsafeMutablePointer<Int64>
  private var columnCount: Int { table.columns.count }

  /// - Returns: nil for views and virtual tables, or if SQLite refuses the declaration.
  package init?(_ table: DatabaseSchema.Table, _ connection: OpaquePointer, _ encoding: TextEncoding) {
    guard table.kind == .table, let storage = table.storage, !table.columns.isEmpty,
      let declaration = CapturedRows.declaration(of: table.columns, in: storage.table.name, connection),
      let module = sqlite_captured_create(
        connection, CapturedRows.name(of: storage.table.name), declaration, Int32(table.columns.count),
        Int32(TextEncoding.utf8.code))
    else { return nil }
    self.table = table
    self.storage = storage
    self.connection = connection
    self.module = module
    self.encoding = encoding
    // Columns that cannot be read are never reported, so the decoder need not know them.
    let unreadable = table.mask(of: table.unreadable.map(\.column))
    let computed = ColumnMask(rawValue: storage.computedColumns.rawValue & ~unreadable.rawValue)
    let tellsAll = computed == .none && storage.decoder.columnCount == table.columns.count
    decoder = tellsAll ? storage.decoder : nil
    values = .allocate(capacity: table.columns.count)
    rowid = .allocate(capacity: 1)
  }

  deinit {
    values.deallocate()
    rowid.deallocate()
  }

  /// Removes the virtual table from the connection.
  package func drop() { _ = sqlite_captured_drop(connection, CapturedRows.name(of: storage.table.name)) }

  /// Whether rows must be looked up, because records do not have all of their values.
  package var isLookedUp: Bool { decoder == nil }

  /// A row's values; nil if its record does not have all of them.
  package func row(of record: UnsafeRawBufferPointer, rowid: Int64) -> PackedValues? {
    guard let decoder, decoder.decode(record, rowid: rowid, isUTF16: encoding != .utf8, into: values) else {
      return nil
    }
    var row = PackedValues()
    for index in 0..<columnCount { append(values[index], to: &row) }
    return row
  }

  private func append(_ value: sqlite_row_value, to row: inout PackedValues) {
    // Only text and blobs use this, because the length of other types is undefined.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: value.bytes, count: Int(value.length)) }
    switch value.type {
    case SQLITE_INTEGER: row.append(value.number)
    case SQLITE_FLOAT: row.append(Double(bitPattern: UInt64(bitPattern: value.number)))
    case SQLITE_TEXT where encoding != .utf8: row.append(.text(encoding.text(of: bytes)))
    case SQLITE_TEXT: row.append(text: bytes)
    case SQLITE_BLOB: row.append(blob: bytes)
    default: row.appendNull()
    }
  }

  /// Calls `body` while the virtual table shows a row.
  package func withRow<Result>(
    _ row: PackedValues, rowid: Int64, _ body: () throws(FreshetError) -> Result
  ) throws(FreshetError) -> Result {
    // The values of text and blobs point into these bytes.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: row.bytes.count, alignment: 1)
    defer { bytes.deallocate() }
    bytes.copyBytes(from: row.bytes)
    var reader = PackedValueReader(UnsafeRawBufferPointer(bytes))
    for index in 0..<columnCount { values[index] = sqlite_row_value(reader.next()) }
    self.rowid.pointee = rowid
    sqlite_captured_set(module, values, self.rowid, nil, nil, 1)
    defer { sqlite_captured_set(module, nil, nil, nil, nil, 0) }
    return try body()
  }
}

extension sqlite_row_value {
  fileprivate init(_ value: PackedValue) {
    self.init()
    switch value {
    case .null: type = SQLITE_NULL
    case .integer(let integer):
      type = SQLITE_INTEGER
      number = integer
    case .real(let real):
      type = SQLITE_FLOAT
      number = Int64(bitPattern: real.bitPattern)
    case .text(let content):
      type = SQLITE_TEXT
      bytes = content.baseAddress
      length = Int32(truncatingIfNeeded: content.count)
    case .blob(let content):
      type = SQLITE_BLOB
      bytes = content.baseAddress
      length = Int32(truncatingIfNeeded: content.count)
    }
  }
}
