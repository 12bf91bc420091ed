package import CSQLite

/// Turns a record into the values that SQLite gives readers of its row:
/// https://sqlite.org/fileformat2.html#record_format. A record that SQLite would have written in another way, or whose
/// values depend on more than its bytes, is not decoded; the caller looks the row up. Decoded values equal SQLite's to
/// the bit:
///
/// - The column that stands for the rowid has the rowid, whatever its field holds.
/// - A REAL column stores whole numbers as integers. A NaN is NULL.
/// - A record that ends early was written before columns were added. Added columns without a default are NULL, the
///   others are unknown. (Every change of a row writes the whole row, except blobs written in place.)
/// - Text is passed as its bytes, valid or not. In UTF-16, SQLite drops a byte order mark, or half a unit at the end,
///   of text that it is given, but not of text that it reads. Such text is not decoded.
package struct RecordDecoder: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    /// Whether the column has type REAL: whole numbers are stored as integers and read as reals.
    package var isReal: Bool
    /// Whether the column is not NULL in a record that ends before it.
    package var hasDefault: Bool

    package init(isReal: Bool, hasDefault: Bool) {
      self.isReal = isReal
      self.hasDefault = hasDefault
    }
  }

  private let columns: [Column]
  /// The column of each field.
  private let columnOfField: [Int]
  private let rowidColumn: Int?
  /// Columns without a field, because they are computed when they are read.
  private let computed: [Int]

  package var columnCount: Int { columns.count }

  /// - Parameters:
  ///   - columnOfField: the column of each field. Columns without a field decode as NULL, for callers that do not read
  ///     them.
  ///   - rowidColumn: the column that stands for the rowid.
  package init(columns: [Column], columnOfField: [Int], rowidColumn: Int?) {
    precondition(Set(columnOfField).count == columnOfField.count, "a column is in two fields")
    computed = columns.indices.filter { !columnOfField.contains($0) }
    self.columns = columns
    self.columnOfField = columnOfField
    self.rowidColumn = rowidColumn
  }

  /// Writes the values of a row. Text and blobs point into the record.
  ///
  /// - Parameters:
  ///   - values: one for each column.
  ///   - isUTF16: whether the database stores text in UTF-16.
  /// - Returns: false if the record cannot be decoded; the contents of `values` are undefined then.
  /// - Complexity: O(columns).
  package func decode(
    _ record: UnsafeRawBufferPointer, rowid: Int64, isUTF16: Bool, into values: UnsafeMutablePointer<sqlite_row_value>
  ) -> Bool {
    guard let start = record.baseAddress else { return false }
    let end = start + record.count
    var headerSize: UInt64 = 0
    let length = readVarint(start, end, &headerSize)
    if length == 0 || headerSize > UInt64(record.count) { return false }
    var header = start + length
    let headerEnd = start + Int(headerSize)
    var body = headerEnd
    var field = 0
    while header < headerEnd {
      if field == columnOfField.count { return false }
      var type: UInt64 = 0
      let length = readVarint(header, headerEnd, &type)
      if length == 0 { return false }
      header += length
      let size = RecordFields.size(of: type)
      if size > end - body { return false }
      let column = columnOfField[field]
      guard RecordDecoder.read(type, body, size, isUTF16: isUTF16, into: values + column) else { return false }
      if columns[column].isReal, values[column].type == SQLITE_INTEGER {
        values[column].set(Double(values[column].number))
      }
      body += size
      field += 1
    }
    // SQLite treats a record with bytes after its last field as damaged.
    if body != end { return false }
    while field < columnOfField.count {
      let column = columnOfField[field]
      if columns[column].hasDefault { return false }
      values[column].type = SQLITE_NULL
      field += 1
    }
    if let rowidColumn { values[rowidColumn].set(rowid) }
    for column in computed { values[column].type = SQLITE_NULL }
    return true
  }

  /// - Parameter body: the `size` bytes of the value; `size` is that of its serial type.
  @inline(__always)
  private static func read(
    _ type: UInt64, _ body: UnsafeRawPointer, _ size: Int, isUTF16: Bool,
    into value: UnsafeMutablePointer<sqlite_row_value>
  ) -> Bool {
    switch type {
    case 0: value.pointee.type = SQLITE_NULL
    case 1...6: value.pointee.set(integer(body, size))
    case 7:
      let number = Double(bitPattern: UInt64(body.bigEndian32(0)) << 32 | UInt64(body.bigEndian32(4)))
      if number.isNaN { value.pointee.type = SQLITE_NULL } else { value.pointee.set(number) }
    case 8: value.pointee.set(Int64(0))
    case 9: value.pointee.set(Int64(1))
    // Serial types that SQLite reserves for itself, or that do not exist.
    case 10, 11: return false
    default:
      let isText = type & 1 == 1
      if isText, isUTF16, isChangedWhenGiven(body, size) { return false }
      value.pointee.type = isText ? SQLITE_TEXT : SQLITE_BLOB
      value.pointee.length = Int32(truncatingIfNeeded: size)
      value.pointee.bytes = body
    }
    return true
  }

  @inline(__always)
  private static func integer(_ body: UnsafeRawPointer, _ size: Int) -> Int64 {
    var value = Int64(Int8(bitPattern: body.byte(0)))
    for index in 1..<max(size, 1) { value = value << 8 | Int64(body.byte(index)) }
    return value
  }

  private static func isChangedWhenGiven(_ text: UnsafeRawPointer, _ size: Int) -> Bool {
    if size & 1 == 1 { return true }
    return size >= 2 && [0xFEFF, 0xFFFE].contains(text.bigEndian16(0))
  }
}

extension sqlite_row_value {
  @inline(__always)
  fileprivate mutating func set(_ integer: Int64) {
    type = SQLITE_INTEGER
    number = integer
  }

  @inline(__always)
  fileprivate mutating func set(_ real: Double) {
    type = SQLITE_FLOAT
    number = Int64(bitPattern: real.bitPattern)
  }
}
