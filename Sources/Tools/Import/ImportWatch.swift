import GRDB
import GRDBSQLite

/// Reports how far an import is, and ends it when it is cancelled.
///
/// Owner: the importing thread.
final class ImportWatch {
  private let progress: (Int) -> Void
  private let asked: () -> Bool
  /// Rows since the last look.
  private var rows = 0

  /// Rows between two looks.
  private static let stride = 1_000
  /// Operations of SQLite's virtual machine between two looks: well below a millisecond.
  private static let interval: Int32 = 10_000

  init(progress: @escaping (Int) -> Void, isCancelled: @escaping () -> Bool) {
    self.progress = progress
    asked = isCancelled
  }

  var isCancelled: Bool { asked() }

  /// To be called for every row.
  ///
  /// - Throws: `cancelled`.
  func report(_ position: Int) throws(ImportError) {
    rows += 1
    guard rows % Self.stride == 0 else { return }
    progress(position)
    if isCancelled { throw ImportError(.cancelled, "interrupted") }
  }

  func end(_ position: Int) { progress(position) }

  /// Runs `body`; its statements fail with `SQLITE_INTERRUPT` as soon as the import is cancelled.
  func watching<Result>(_ db: Database, _ body: () throws -> Result) rethrows -> Result {
    let connection = db.sqliteConnection
    sqlite3_progress_handler(
      connection, Self.interval,
      { context in Unmanaged<ImportWatch>.fromOpaque(context!).takeUnretainedValue().isCancelled ? 1 : 0 },
      Unmanaged.passUnretained(self).toOpaque())
    defer { sqlite3_progress_handler(connection, 0, nil, nil) }
    return try body()
  }
}
