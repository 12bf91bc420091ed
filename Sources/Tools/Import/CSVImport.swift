import FileMaking
import Foundation
import GRDB
import Store

/// Brings a CSV file into a table of an SQLite database: the whole file, or nothing.
///
/// The file is read twice. Types are those that all values of a column have; the second time, rows are written. A new
/// database file appears when it is done; in an existing one, everything is one transaction.
package struct CSVImport {
  package struct Options: Sendable {
    /// Nil to guess it from the first line.
    package var delimiter: UInt8?
    package var encoding = CSVEncoding.utf8
    package var hasHeader = true
    /// The column that identifies rows; nil for the default.
    package var key: String?
    /// Columns that are text whatever they look like.
    package var textColumns: [String] = []
    /// Whether dates stay as they are written.
    package var keepsDates = false
    /// Whether the table, if it is there, is made to hold what the file holds.
    package var replaces = false

    package init() {}
  }

  let file: CSVFile
  let table: String
  let options: Options
  private let watch: ImportWatch

  /// - Parameter progress: called now and then, and at the end, with the bytes read so far, out of twice the file's size.
  /// - Parameter isCancelled: asked now and then, also within statements of SQL; once it is true, nothing is imported.
  package init(
    _ file: CSVFile, table: String, options: Options = Options(), progress: @escaping (Int) -> Void = { _ in },
    isCancelled: @escaping () -> Bool = { false }
  ) {
    self.file = file
    self.table = table
    self.options = options
    watch = ImportWatch(progress: progress, isCancelled: isCancelled)
  }

  /// Imports into the database at `path`, which is made if it is not there.
  ///
  /// - Throws: `ImportError`; the database is then what it was.
  package func run(into path: String) throws(ImportError) -> ImportSummary {
    do {
      try checkTableName()
      let csv = try CSVTable(file, options)
      // Now, for the first reading can take a while.
      if let key = options.key { _ = try csv.index(of: key) }
      let survey = try CSVSurvey(csv, options, watch.report)
      let summary =
        FileManager.default.fileExists(atPath: path)
        ? try writeToExisting(csv, survey, path) : try writeToNew(csv, survey, path)
      watch.end(2 * file.size)
      return summary
    } catch {
      if watch.isCancelled { throw ImportError(.cancelled, "interrupted; nothing was imported") }
      throw ImportError(error, path)
    }
  }

  private func checkTableName() throws(ImportError) {
    if table.isEmpty || table.contains("\0") || ReservedNames.contains(table) {
      throw ImportError(.mismatch, "a table cannot be called \(identifierForPeople(table))")
    }
  }

  private func writeToNew(_ csv: CSVTable, _ survey: CSVSurvey, _ path: String) throws -> ImportSummary {
    let definition = try TableDefinition(named: table, csv, survey, options)
    try NewDatabase.create(at: path) { db in
      try watch.watching(db) { try create(definition, csv, db) }
    }
    return ImportSummary(created: definition, rows: survey.rows)
  }

  private func writeToExisting(_ csv: CSVTable, _ survey: CSVSurvey, _ path: String) throws -> ImportSummary {
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    configuration.avoidWALResetBug()
    return try DatabaseQueue(path: path, configuration: configuration).writeWithoutTransaction { db in
      let checkpoint = GuardedCheckpoint(for: db.sqliteConnection!, path: path, patience: 10_000)
      defer { checkpoint.close() }
      return try watch.watching(db) {
        if let existing = try DatabaseSchema.read(db).table(table) {
          guard options.replaces else {
            throw ImportError(.mismatch, "\(path) has a table \(table) already; --replace brings it up to date")
          }
          return try TableMerge(existing, csv, survey, options, db).run(db) { try writeRows(csv, $0) }
        }
        let definition = try TableDefinition(named: table, csv, survey, options)
        try db.inTransaction(.immediate) {
          try create(definition, csv, db)
          return .commit
        }
        return ImportSummary(created: definition, rows: survey.rows)
      }
    }
  }

  private func create(_ definition: TableDefinition, _ csv: CSVTable, _ db: Database) throws {
    try db.execute(sql: definition.createSQL)
    let connection = db.sqliteConnection!
    try writeRows(
      csv, RowWriter(connection, definition.insertSQL, csv, kinds: definition.kinds, key: definition.fileKey))
  }

  /// The second reading.
  private func writeRows(_ csv: CSVTable, _ writer: RowWriter) throws {
    try csv.forEachRow { record, position in
      try writer.write(record)
      try watch.report(file.size + position)
    }
    guard file.isUnchanged else { throw ImportError(.unreadable, "\(file.name) changed while it was read") }
  }
}

extension ImportError {
  /// Any error of an import; one of this module stays as it is.
  fileprivate init(_ error: any Error, _ path: String) {
    switch error {
    case let error as ImportError: self = error
    case let error as FileMakingError: self.init(.database, error.message, cause: error)
    case let error as StoreError: self.init(.database, error.message, cause: error)
    case let error as SQLiteFailure: self.init(.database, "cannot write \(path): \(error.message)", cause: error)
    case let error as DatabaseError:
      self.init(.database, "cannot write \(path): \(error.message ?? "\(error)")", cause: error)
    default: self.init(.database, "cannot write \(path): \(error)", cause: error)
    }
  }
}
