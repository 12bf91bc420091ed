import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import Store

/// A database file with a schema of its own, tracked by Freshet, and written by another process.
final class ChangeLogFixture {
  let path: String
  let queue: DatabaseQueue
  var tables: [TrackedTable] = []
  private var position: Int64 = 0
  private let shell: SQLiteShell

  /// - Parameter tables: what to track; nil for every table, an empty list for nothing yet.
  init(_ schema: String, tables: [String]? = nil, capacity: Int = ChangeLog.defaultCapacity) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    shell = SQLiteShell(path: path)
    queue = try DatabaseQueue(path: path)
    let output = try shell.run(schema + "\n;PRAGMA journal_mode=WAL;")
    #expect(output == "wal", "the schema is good SQL")
    if tables?.isEmpty == true { return }
    try install(tables: tables, capacity: capacity)
  }

  deinit {
    try? queue.close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  @discardableResult
  func install(tables names: [String]? = nil, capacity: Int = ChangeLog.defaultCapacity) throws -> [TrackedTable] {
    tables = try queue.writeWithoutTransaction { try ChangeLog.install($0, tables: names, capacity: capacity) }
    return tables
  }

  func uninstall() throws {
    try queue.writeWithoutTransaction { try ChangeLog.uninstall($0) }
  }

  func isCurrent() throws -> Bool {
    try queue.read { try ChangeLog.isCurrent($0) }
  }

  /// The schema as SQLite stores it, in its order.
  func schema() throws -> [String] {
    try queue.read { db in
      let sql = """
        SELECT type || char(10) || quote(name) || char(10) || quote(tbl_name) || char(10) || quote(sql)
        FROM sqlite_master ORDER BY rowid
        """
      return try String.fetchAll(db, sql: sql)
    }
  }

  /// Writes in another process; gives what it printed.
  @discardableResult
  func write(_ sql: String) throws -> String {
    try shell.run(sql)
  }

  func schemaVersion() throws -> Int64 { Int64(try write("PRAGMA schema_version")) ?? -1 }

  /// The changes logged since the last call.
  func changes() throws -> [LoggedChange] {
    let reader = try queue.writeWithoutTransaction { try ChangeLogReader(connection: $0.sqliteConnection!) }
    return try queue.read { db in
      var changes: [LoggedChange] = []
      let tables = self.tables
      let outcome = try reader.read(after: position) { changes.append(LoggedChange($0, tables)) }
      guard case .complete(let newest) = outcome else {
        Issue.record("the log has a gap")
        return []
      }
      position = newest
      return changes
    }
  }

  /// The changes that a script of another process leaves in the log.
  func changes(after sql: String) throws -> [LoggedChange] {
    _ = try changes()
    try write(sql)
    return try changes()
  }

  /// The keys of those changes, each once, sorted: `table:value,value`, values as SQL literals.
  func keys(after sql: String) throws -> [String] {
    Set(try changes(after: sql).map { "\($0.table):\($0.key.joined(separator: ","))" }).sorted()
  }
}

/// One row of the log with its key as SQL literals.
struct LoggedChange: CustomStringConvertible {
  let table: String
  let operation: ChangeOperation
  let mask: ColumnMask
  let key: [String]
  /// Names of the columns in the mask.
  let columns: [String]
  /// The former values of the captured columns, if the row has them.
  let old: [String]?

  init(_ row: borrowing ChangeRow, _ tables: [TrackedTable]) {
    let id = row.table
    let table = tables.first { $0.id == id }
    let mask = row.columns
    self.table = table?.name ?? "?"
    operation = row.operation
    self.mask = mask
    columns = (table?.columns ?? []).enumerated().filter { mask.contains($0.offset) }.map(\.element)
    let statement = row.statement
    key = (table?.key.names ?? []).indices.map { literal(statement, ChangeRow.firstKeyColumn + Int32($0)) }
    if let table, row.hasOldValues(of: table) {
      old = table.captured.indices.map { literal(statement, table.oldColumn($0)) }
    } else {
      old = nil
    }
  }

  var description: String {
    let columns = mask == .all ? "*" : columns.joined(separator: "+")
    let was = old.map { " was \($0.joined(separator: ","))" } ?? ""
    return "\(operation) \(table):\(key.joined(separator: ",")) \(columns)\(was)"
  }
}

/// A value as SQLite's quote() writes it; that function would need a statement of its own.
private func literal(_ statement: OpaquePointer, _ column: Int32) -> String {
  switch sqlite3_column_type(statement, column) {
  case SQLITE_INTEGER:
    return String(sqlite3_column_int64(statement, column))
  case SQLITE_FLOAT:
    return "\(sqlite3_column_double(statement, column))"
  case SQLITE_TEXT:
    return "'" + String(cString: sqlite3_column_text(statement, column)).replacingOccurrences(of: "'", with: "''") + "'"
  case SQLITE_BLOB:
    let count = Int(sqlite3_column_bytes(statement, column))
    let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
    return "X'" + bytes.map { String(format: "%02X", $0) }.joined() + "'"
  default:
    return "NULL"
  }
}
