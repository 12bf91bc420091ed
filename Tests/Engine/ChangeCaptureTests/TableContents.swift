import CSQLite
import Foundation
import Ground
import LiveQuery

@testable import ChangeCapture
@testable import Store

/// A table's rows from SELECT: by key, the columns of each row.
///
/// Everything is bytes, compared as memory: because every tick reads thousands of rows, in debug builds.
struct TableContents {
  /// Bytes that are compared as memory.
  struct Bytes: Hashable {
    var storage: [UInt8] = []

    static func == (left: Bytes, right: Bytes) -> Bool {
      left.storage.count == right.storage.count
        && left.storage.withUnsafeBytes { left in
          right.storage.withUnsafeBytes {
            left.count == 0 || memcmp(left.baseAddress!, $0.baseAddress!, left.count) == 0
          }
        }
    }

    func hash(into hasher: inout Hasher) { storage.withUnsafeBytes { hasher.combine(bytes: $0) } }

    mutating func append(tag: UInt8, _ number: UInt64) {
      storage.append(tag)
      withUnsafeBytes(of: number) { storage.append(contentsOf: $0) }
    }

    mutating func append(tag: UInt8, _ bytes: UnsafeRawBufferPointer) {
      // The length comes first, so that two values are never taken for two others.
      append(tag: tag, UInt64(bytes.count))
      storage.append(contentsOf: bytes)
    }

    mutating func append(_ statement: OpaquePointer, _ column: Int32, encoding: String) {
      let count = { Int(sqlite3_column_bytes(statement, column)) }
      switch sqlite3_column_type(statement, column) {
      case SQLITE_INTEGER: append(tag: 1, UInt64(bitPattern: sqlite3_column_int64(statement, column)))
      case SQLITE_FLOAT: append(tag: 2, sqlite3_column_double(statement, column).bitPattern)
      case SQLITE_TEXT:
        // Text in another encoding is not read as UTF-8, because that would change invalid text.
        if encoding == "UTF-8" {
          let text = sqlite3_column_text(statement, column)
          append(tag: 3, UnsafeRawBufferPointer(start: text, count: count()))
        } else {
          let text = sqlite3_column_text16(statement, column)
          append(tag: 3, UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes16(statement, column))))
        }
      case SQLITE_BLOB:
        let blob = sqlite3_column_blob(statement, column)
        append(tag: 4, UnsafeRawBufferPointer(start: blob, count: count()))
      default: storage.append(0)
      }
    }

    /// Appends the value that a record stores, in the encoding of the database.
    mutating func append(_ value: StoredValue, encoding: String) {
      switch value {
      case .null, .missing: storage.append(0)
      case .integer(let value): append(tag: 1, UInt64(bitPattern: value))
      case .real(let value): append(tag: 2, value.bitPattern)
      case .blob(let bytes): append(tag: 4, bytes)
      case .text(let bytes) where encoding == "UTF-16be":
        // SQLite returns UTF-16 in the machine's own byte order.
        let swapped = stride(from: 0, to: bytes.count - 1, by: 2).flatMap { [bytes[$0 + 1], bytes[$0]] }
        swapped.withUnsafeBytes { append(tag: 3, $0) }
      case .text(let bytes): append(tag: 3, bytes)
      }
    }
  }

  struct Row: Hashable {
    var columns: [Bytes] = []
  }

  private(set) var rows: [Bytes: Row] = [:]

  init() {}

  init(_ connection: OpaquePointer, _ table: DatabaseSchema.Table, encoding: String) throws {
    var keys = ["rowid"]
    if let storage = table.storage, storage.table.layout.isWithoutRowid {
      keys = (0..<storage.table.layout.keyFieldCount).map { table.columns[storage.column(ofField: $0)!].name }
    }
    let sql = "SELECT \(keys.joined(separator: ", ")), * FROM \(quotedIdentifier(table.name))"
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw OracleError(
        code: sqlite3_errcode(connection), description: "\(sql): \(String(cString: sqlite3_errmsg(connection)))")
    }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { break }
      guard code == SQLITE_ROW else {
        throw OracleError(code: code, description: String(cString: sqlite3_errmsg(connection)))
      }
      var key = Bytes()
      for column in keys.indices { key.append(statement, Int32(column), encoding: encoding) }
      var row = Row()
      for column in keys.count..<Int(sqlite3_column_count(statement)) {
        var bytes = Bytes()
        bytes.append(statement, Int32(column), encoding: encoding)
        row.columns.append(bytes)
      }
      rows[key] = row
    }
  }

  struct OracleError: Error, CustomStringConvertible {
    let code: Int32
    let description: String
  }
}
