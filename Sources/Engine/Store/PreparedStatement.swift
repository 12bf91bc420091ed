import CSQLite
package import Ground
package import LiveQuery
import RankedCollections

/// A prepared statement on a raw connection, for loops that must not allocate.
///
/// Owner: the thread that uses the connection. Must be released before the connection is closed.
package final class PreparedStatement {
  package let handle: OpaquePointer

  /// - Throws: SQLite's error, if the text does not compile.
  package init(_ connection: OpaquePointer, _ sql: String, isPersistent: Bool = true) throws(SQLiteFailure) {
    var handle: OpaquePointer?
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = sqlite3_prepare_v3(connection, sql, -1, flags, &handle, nil)
    guard code == SQLITE_OK, let handle else { throw SQLiteFailure(of: connection, code) }
    self.handle = handle
  }

  /// A statement with client SQL. `Budget` limits its compilation.
  package convenience init(bounded sql: String, _ connection: OpaquePointer) throws(SQLiteFailure) {
    let budget = Budget.beginStatement(sql)
    defer { budget.end() }
    try self.init(connection, sql)
  }

  private var isClosed = false

  deinit { close() }

  /// Finalizes the statement before it is released, so that its connection can be closed. It must not be used any more.
  func close() {
    if isClosed { return }
    isClosed = true
    sqlite3_finalize(handle)
  }

  /// Runs statements that return no rows.
  package static func run(_ connection: OpaquePointer, _ sql: String) throws(SQLiteFailure) {
    let code = sqlite3_exec(connection, sql, nil, nil, nil)
    if code != SQLITE_OK { throw SQLiteFailure(of: connection, code) }
  }

  /// Advances to the next row. Returns false if there are no more rows.
  @inline(__always)
  package func step() throws(SQLiteFailure) -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw SQLiteFailure(of: sqlite3_db_handle(handle), code)
  }

  /// Ends the execution and keeps the bindings. SQLite's result code is ignored, because `step` has thrown the same
  /// error.
  @inline(__always)
  package func reset() { _ = sqlite3_reset(handle) }

  /// The number of steps of SQLite's virtual machine since the last call. SQLite counts up to 2^32, more than any query
  /// has time for.
  func takeSteps() -> Int { Int(UInt32(bitPattern: sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 1))) }

  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  package var columnCount: Int { Int(sqlite3_column_count(handle)) }

  package var columnNames: [String] {
    (0..<sqlite3_column_count(handle)).map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" }
  }

  /// A value of the current row as text; nil for NULL.
  package func text(_ column: Int) -> String? {
    sqlite3_column_text(handle, Int32(column)).map { String(cString: $0) }
  }

  package func isText(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_TEXT }

  package func real(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

  package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

  /// A value of the current row. Text and blobs are borrowed until the next step, reset or conversion.
  @inline(__always)
  package func value(_ column: Int) -> PackedValue { PreparedStatement.value(handle, Int32(column)) }

  /// As above, for a database in UTF-8. Text is read as a blob, because SQLite would copy it to add a terminating zero.
  @inline(__always)
  static func valueOfUTF8(_ handle: OpaquePointer, _ column: Int32) -> PackedValue {
    let value = sqlite3_column_value(handle, column)
    guard sqlite3_value_type(value) == SQLITE_TEXT else { return PreparedStatement.value(handle, column) }
    let text = sqlite3_value_blob(value)
    return .text(Bytes(start: text, count: Int(sqlite3_value_bytes(value))))
  }

  /// As above, with text in UTF-8. SQLite converts it if the database is in UTF-16.
  @inline(__always)
  package static func value(_ handle: OpaquePointer, _ column: Int32) -> PackedValue {
    // This finds the column once; `sqlite3_column_text` and similar functions do so in each call. The value may be used
    // because no other thread uses the connection.
    value(sqlite3_column_value(handle, column))
  }

  /// As above, for a single value.
  @inline(__always)
  static func value(_ value: OpaquePointer?) -> PackedValue {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let text = UnsafeRawPointer(sqlite3_value_text(value))
      return .text(Bytes(start: text, count: Int(sqlite3_value_bytes(value))))
    case SQLITE_BLOB:
      let blob = sqlite3_value_blob(value)
      return .blob(Bytes(start: blob, count: Int(sqlite3_value_bytes(value))))
    default: return .null
    }
  }

  /// The values of the current row.
  package var values: [SQLValue] { (0..<columnCount).map { SQLValue(value($0)) } }

  /// Binds a value; text and blobs are copied. Indexes count from 1.
  package func bind(_ value: SQLValue, at index: Int32) {
    switch value {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let value): sqlite3_bind_int64(handle, index, value)
    case .real(let value): sqlite3_bind_double(handle, index, value)
    case .text(let value):
      var value = value
      value.withUTF8 { bind(text: UnsafeRawBufferPointer($0), .utf8, at: index) }
    case .blob(let value): bind(blob: value, at: index)
    }
  }

  /// Binds a packed value.
  ///
  /// - Parameter encoding: the encoding of the value's text.
  package func bind(packed value: PackedValue, _ encoding: TextEncoding = .utf8, at index: Int32) {
    switch value {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let value): sqlite3_bind_int64(handle, index, value)
    case .real(let value): sqlite3_bind_double(handle, index, value)
    case .text(let bytes): bind(text: bytes, encoding, at: index)
    case .blob(let bytes): bind(blob: Array(bytes), at: index)
    }
  }

  private func bind(text: Bytes, _ encoding: TextEncoding, at index: Int32) {
    guard let start = text.baseAddress, !text.isEmpty else {
      sqlite3_bind_text(handle, index, "", 0, transient)
      return
    }
    let characters = start.assumingMemoryBound(to: CChar.self)
    sqlite3_bind_text64(handle, index, characters, UInt64(text.count), transient, encoding.code)
  }

  private func bind(blob: [UInt8], at index: Int32) {
    if blob.isEmpty {
      sqlite3_bind_zeroblob(handle, index, 0)
    } else {
      sqlite3_bind_blob64(handle, index, blob, UInt64(blob.count), transient)
    }
  }

  /// Binds the fields of an encoded key to the parameters from `first` on. The bound values are equal to the encoded
  /// ones under their collations.
  ///
  /// - Parameter orders: the order with which each field was encoded; empty if all are parts of an identity.
  package func bind(key: Bytes, from first: Int32, encoding: TextEncoding, orders: [FieldOrder] = []) {
    var decoder = KeyDecoder(key)
    var place = 0
    while !decoder.isAtEnd {
      let order = orders.isEmpty ? .identity : orders[place]
      // NOCASE and RTRIM compare UTF-8, whatever the database's encoding.
      bind(decoder.next(order), at: first + Int32(place), encoding: order.collation == .binary ? encoding : .utf8)
      place += 1
    }
  }

  /// Binds a field of an encoded key.
  ///
  /// - Parameter encoding: the encoding of the field's text.
  package func bind(_ field: KeyDecoder.Field, at index: Int32, encoding: TextEncoding) {
    switch field {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let value): sqlite3_bind_int64(handle, index, value)
    case .real(let value): sqlite3_bind_double(handle, index, value)
    case .text(let bytes):
      bytes.withUnsafeBytes { bind(text: $0, encoding, at: index) }
    case .blob(let bytes): bind(blob: bytes, at: index)
    }
  }
}

extension SQLValue {
  init(_ value: PackedValue) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .real(value)
    case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): self = .blob(Array(bytes))
    }
  }
}

/// `SQLITE_TRANSIENT`, which makes SQLite copy what is bound. It is a macro that Swift does not import.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The encoding in which a database stores text.
package enum TextEncoding: String, Sendable {
  case utf8 = "UTF-8"
  case utf16le = "UTF-16le"
  case utf16be = "UTF-16be"

  /// Encodes text as the database stores it.
  func bytes(of text: String) -> [UInt8] {
    switch self {
    case .utf8: Array(text.utf8)
    case .utf16le: text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    case .utf16be: text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }
  }

  /// Decodes text that the database stores as these bytes.
  package func text(of bytes: UnsafeRawBufferPointer) -> String {
    if self == .utf8 { return String(decoding: bytes, as: UTF8.self) }
    let (high, low) = self == .utf16be ? (0, 1) : (1, 0)
    let units = stride(from: 0, to: bytes.count & ~1, by: 2).map {
      UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + low])
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// The text of a statement's column as the database stores it. For databases in UTF-16.
  package func bytes(of handle: OpaquePointer, _ column: Int32) -> [UInt8] {
    let start = sqlite3_column_text16(handle, column)
    let native = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes16(handle, column)))
    let isSwapped = (self == .utf16be) != (1.bigEndian == 1)
    if !isSwapped { return Array(native) }
    return native.indices.map { native[$0 ^ 1] }
  }

  /// SQLite's code of the encoding.
  var code: UInt8 {
    switch self {
    case .utf8: UInt8(SQLITE_UTF8)
    case .utf16le: UInt8(SQLITE_UTF16LE)
    case .utf16be: UInt8(SQLITE_UTF16BE)
    }
  }
}

/// An error as SQLite reported it.
package struct SQLiteFailure: Error, CustomStringConvertible {
  /// The extended result code.
  package let code: Int32
  package let message: String

  package init(code: Int32, message: String) {
    self.code = code
    self.message = message
  }

  init(of connection: OpaquePointer?, _ code: Int32) {
    self.code = connection.map { sqlite3_extended_errcode($0) } ?? code
    message = connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
  }

  package var primaryCode: Int32 { code & 0xFF }
  package var isNotADatabase: Bool { primaryCode == SQLITE_NOTADB }
  /// Whether the file has another text encoding than when the connection first read it. SQLite has no error code for
  /// this.
  package var isOfOtherEncoding: Bool { message.hasSuffix("must use the same text encoding as main database") }
  /// Whether another program holds a lock, or has a journal open, so that the statement may succeed later.
  package var isLock: Bool {
    primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED || RollbackJournal.isInTheWay(code)
  }
  package var description: String { "SQLite error \(code): \(message)" }
}
