import Foundation
import GRDBSQLite

/// A raw SQLite connection: the writer that the server knows nothing about, and the baseline.
final class Database {
  private let connection: OpaquePointer

  init(_ path: String) {
    var connection: OpaquePointer?
    let code = sqlite3_open(path, &connection)
    precondition(code == SQLITE_OK, "cannot open \(path)")
    self.connection = connection!
    sqlite3_busy_timeout(self.connection, 5_000)
    execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
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
      while sqlite3_step(handle) == SQLITE_ROW {
        rows += 1
        for column in 0..<columns {
          _ = sqlite3_column_text(handle, column)
          bytes += Int(sqlite3_column_bytes(handle, column))
        }
      }
      sqlite3_reset(handle)
      return (rows, bytes)
    }

    var text: String {
      defer { sqlite3_reset(handle) }
      guard sqlite3_step(handle) == SQLITE_ROW, let text = sqlite3_column_text(handle, 0) else { return "" }
      return String(cString: text)
    }
  }
}

/// A table of wells as the demo has it, in a temporary file of its own.
struct Wells {
  static let query = """
    {"from":"well","select":["name","operator","status","depth"],"sectionBy":"county","orderBy":["name"]}
    """

  let path: String
  let rows: Int

  init(rows: Int) {
    self.rows = rows
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-bench-\(UUID().uuidString)")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "wells.sqlite").path
    let database = Database(path)
    database.execute(
      """
      CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT NOT NULL, county TEXT NOT NULL, operator TEXT NOT NULL,
        status TEXT NOT NULL, depth REAL NOT NULL);
      -- A linear congruential sequence: the same rows on every machine.
      WITH RECURSIVE r(i, x) AS (SELECT 1, 42 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r LIMIT \(rows))
      INSERT INTO well SELECT i, char(65 + x / 7 % 26, 97 + x / 191 % 26, 97 + x / 5003 % 26) || ' Federal ' || x % 97 || '-' || i,
        'County ' || (10 + x / 11 % min(89, max(1, \(rows) / 12))), 'Operator ' || (x / 13 % 40),
        CASE x / 17 % 3 WHEN 0 THEN 'active' WHEN 1 THEN 'idle' ELSE 'plugged' END, (x % 90000) / 10.0 FROM r;
      """)
  }

  func remove() {
    try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
  }
}
