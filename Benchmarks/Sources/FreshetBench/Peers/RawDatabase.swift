import Foundation
import GRDBSQLite

/// A raw SQLite connection: the writer that the server knows nothing about, and the baseline.
final class RawDatabase {
  /// Whether a commit waits for the disk.
  enum Durability: String, CaseIterable {
    /// The disk: SQLite's default.
    case full = "FULL"
    /// Nothing; what is usual with a write-ahead log.
    case normal = "NORMAL"
  }

  private let connection: OpaquePointer

  init(_ path: String, _ durability: Durability = .normal) {
    var connection: OpaquePointer?
    let code = sqlite3_open(path, &connection)
    precondition(code == SQLITE_OK, "cannot open \(path)")
    self.connection = connection!
    sqlite3_busy_timeout(self.connection, 5_000)
    execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=\(durability.rawValue)")
  }

  deinit { sqlite3_close_v2(connection) }

  func execute(_ sql: String) {
    let code = sqlite3_exec(connection, sql, nil, nil, nil)
    precondition(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(connection)))")
  }

  func prepare(_ sql: String) -> Statement { Statement(connection, sql) }

  /// A prepared statement that is run again and again.
  final class Statement {
    private let handle: OpaquePointer

    init(_ connection: OpaquePointer, _ sql: String) {
      var handle: OpaquePointer?
      let code = sqlite3_prepare_v2(connection, sql, -1, &handle, nil)
      precondition(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(connection)))")
      self.handle = handle!
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ index: Int32, _ value: Int) { sqlite3_bind_int64(handle, index, Int64(value)) }

    func bind(_ index: Int32, _ value: String) {
      sqlite3_bind_text(handle, index, value, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    /// Steps to the end, looking at every column as a reader would.
    ///
    /// - Returns: the number of rows, and a sum that keeps the reading from being left out.
    @discardableResult
    func run() -> (rows: Int, bytes: Int) {
      var rows = 0
      var bytes = 0
      let columns = sqlite3_column_count(handle)
      var code = sqlite3_step(handle)
      while code == SQLITE_ROW {
        rows += 1
        for column in 0..<columns {
          _ = sqlite3_column_text(handle, column)
          bytes += Int(sqlite3_column_bytes(handle, column))
        }
        code = sqlite3_step(handle)
      }
      precondition(code == SQLITE_DONE, String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
      sqlite3_reset(handle)
      return (rows, bytes)
    }

    /// Steps through the rows.
    func forEach(_ body: (Statement) -> Void) {
      while sqlite3_step(handle) == SQLITE_ROW { body(self) }
      sqlite3_reset(handle)
    }

    func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
    func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func text(_ column: Int32) -> String { sqlite3_column_text(handle, column).map { String(cString: $0) } ?? "" }

    /// Every row, its columns with `|` between them.
    var texts: [String] {
      defer { sqlite3_reset(handle) }
      var rows: [String] = []
      while sqlite3_step(handle) == SQLITE_ROW {
        rows.append((0..<sqlite3_column_count(handle)).map(text).joined(separator: "|"))
      }
      return rows
    }
  }
}
