import GRDB
import LiveQuery
import Store

/// Brings a table that is there to what a file says, and touches only the rows that differ.
///
/// The file goes into a temporary table first, which locks no other program out. Rows are then matched by a key; without one, a row
/// of the file is that row of the table which has the same values in all columns.
struct TableMerge {
  /// A column that both have; in the order of the file.
  struct Column {
    let name: String
    let kind: ColumnKind
    /// The type in the temporary table, under which a value becomes what it becomes in the table.
    let stagedType: String
    /// Whether `IS NOT` distinguishes all values: without affinity, 1 and 1.0 are two.
    let isExact: Bool
  }

  enum Match: Equatable {
    /// Columns of the file.
    case key([Int])
    /// By all columns; the table's own key has this name.
    case wholeRows(key: String)
  }

  let table: DatabaseSchema.Table
  let csv: CSVTable
  let columns: [Column]
  let match: Match
  private let rows: Int

  /// - Throws: `mismatch` when table and file do not agree; `badLine` when a value does not suit its column.
  init(
    _ table: DatabaseSchema.Table, _ csv: CSVTable, _ survey: CSVSurvey, _ options: CSVImport.Options, _ db: Database
  ) throws {
    guard table.kind == .table, let key = table.key else {
      throw ImportError(.mismatch, "\(table.name) is no ordinary table with a key")
    }
    self.table = table
    self.csv = csv
    rows = survey.rows
    match = try Self.match(key, table, csv, options)
    let plain = try Row.fetchAll(
      db, sql: "SELECT name, type FROM pragma_table_info(?, 'main')", arguments: [table.name])
    let check = ColumnCheck(table: table.name, csv: csv, options: options)
    columns = try survey.columns.map { column in
      guard let row = plain.first(where: { isSameName($0["name"], column.name) }) else {
        throw ImportError(.mismatch, "the table \(table.name) has no column \(identifierForPeople(column.name))")
      }
      return try check.column(row["name"], type: row["type"] ?? "", column, db)
    }
    let missing = plain.map { $0["name"] as String }.filter { name in
      !csv.names.contains { isSameName($0, name) } && !key.names.contains { isSameName($0, name) }
    }
    if let name = missing.first {
      throw ImportError(
        .mismatch, "\(csv.file.name) has no column \(identifierForPeople(name)), which the table \(table.name) has")
    }
  }

  private static func match(
    _ key: TableKey, _ table: DatabaseSchema.Table, _ csv: CSVTable, _ options: CSVImport.Options
  ) throws(ImportError) -> Match {
    if let name = options.key { return .key([try csv.index(of: name)]) }
    let places = key.names.map { name in csv.names.firstIndex { isSameName($0, name) } }
    if places.allSatisfy({ $0 != nil }) { return .key(places.compactMap(\.self)) }
    if case .rowid(let alias) = key { return .wholeRows(key: alias) }
    let names = key.names.map(identifierForPeople).joined(separator: ", ")
    throw ImportError(
      .mismatch, "\(csv.file.name) does not have the key of the table \(table.name) (\(names)); --key names another")
  }

  /// - Parameter write: writes all rows of the file.
  func run(_ db: Database, _ write: (RowWriter) throws -> Void) throws -> ImportSummary {
    var counts = (inserted: 0, updated: 0, deleted: 0)
    try db.inTransaction(.deferred) {
      try stage(db, write)
      if case .wholeRows = match { try numberStaged(db) }
      return .commit
    }
    try db.inTransaction(.immediate) {
      switch match {
      case .key(let key): counts = try mergeByKey(key, db)
      case .wholeRows(let key): counts = try mergeWholeRows(key, db)
      }
      return .commit
    }
    return ImportSummary(
      merged: table.name, rows: rows, inserted: counts.inserted, updated: counts.updated, deleted: counts.deleted,
      columns: table.columns.map { ($0.name, $0.type) })
  }

  private func stage(_ db: Database, _ write: (RowWriter) throws -> Void) throws {
    let list = columns.enumerated().map { "c\($0) \($1.stagedType)" }
    try db.execute(sql: "CREATE TEMP TABLE staged(\(list.joined(separator: ", ")), line INTEGER PRIMARY KEY)")
    var key: [Int] = []
    if case .key(let columns) = match {
      key = columns
      let list = columns.map { "c\($0)" }.joined(separator: ", ")
      try db.execute(sql: "CREATE UNIQUE INDEX temp.staged_key ON staged(\(list))")
    }
    let parameters = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
    try write(
      RowWriter(
        db.sqliteConnection!, "INSERT INTO temp.staged VALUES (\(parameters))", csv, kinds: columns.map(\.kind),
        key: key))
  }
}
