import CSQLite

// Compares all tables, and reads what the schema says of them.
extension FileCapture {
  /// Reads the header on page 1, if the page changed.
  ///
  /// - Returns: the numbers of tables that must be compared as a whole.
  func readFirstPage(_ tick: inout FileTick) throws(Doubt) -> Set<Int> {
    guard pages.changed.first == 1 else { return [] }
    let cookie = try pages.readFirstPage()
    return cookie == schemaCookie ? [] : readSchema(cookie, &tick)
  }

  func readSchema(_ cookie: UInt32, _ tick: inout FileTick) -> Set<Int> {
    tick.hasSchemaChanged = true
    if tables.isEmpty {
      schemaCookie = cookie
      return []
    }
    guard let stored = StoredTable.all(of: connection) else {
      // The next tick reads the schema again; until then it is unknown.
      schemaCookie = nil
      for table in tables.values { table.delta.isUnknown = true }
      return Set(tables.keys)
    }
    schemaCookie = cookie
    return Set(tables.values.filter { define($0, stored[$0.name.lowercased()]) }.map(\.number))
  }

  /// - Returns: whether the table must be compared as a whole.
  func define(_ table: FollowedTable, _ stored: StoredTable?) -> Bool {
    let mustCompare = table.define(stored)
    // The fields that captures wanted were numbered by the former definition.
    if table.isUndefined { ticks.forgetFields(of: table.number) }
    return mustCompare
  }

  /// Compares all tables with what is remembered of them. This is how capture settles a doubt about the whole file.
  func compareAll(_ reason: Doubt.Reason, since before: FileState, _ tick: inout FileTick) {
    tick.commits = before.isUnknown ? 0 : current.commits(since: before)
    if !before.isUnknown {
      tick.comparison = reason
      if !tables.isEmpty { statistics.comparisons[reason, default: 0] += 1 }
    }
    reader.removeAll()
    do throws(Doubt) {
      if !current.canBeRead || current.isEmpty { _ = readSchema(0, &tick) }
      if current.isEmpty { return tables.values.forEach { $0.giveUp() } }
      guard let pageSize = current.pageSize(pages.database) else { throw Doubt(.format) }
      pages.begin(pageSize: pageSize, isBackfilled: current.isBackfilled)
      try readFrameNumbers()
      let cookie = try pages.readFirstPage()
      if cookie != schemaCookie { _ = readSchema(cookie, &tick) }
      for table in tables.values { table.compare(pages) }
    } catch {
      // The schema is unknown too, so the next tick reads it again.
      if current.canBeRead { schemaCookie = nil }
      for table in tables.values { table.giveUp() }
    }
  }

  /// Reads frame numbers even of frames that are reported as copied, unless that report is wrong: former images stay
  /// longer in the WAL than in the database file.
  private func readFrameNumbers() throws(Doubt) {
    guard case .wal(let header, isBackfilled: false) = current else {
      return try pages.readFrameNumbers(after: 0, upTo: 0)
    }
    if !misled.isKnown(header) {
      try pages.readFrameNumbers(after: 0, upTo: header.frameCount)
      if try pages.hasCopiedAll(upTo: backfilled, pageCount: header.pageCount) { return }
      misled.note(header)
    }
    try pages.readFrameNumbers(after: backfilled, upTo: header.frameCount)
  }
}

/// A table's entry in SQLite's catalog.
struct StoredTable {
  let rootPage: UInt32
  let definition: String

  /// The tables by name in lower case, in the state that the connection's transaction sees; nil if the catalog cannot
  /// be read.
  static func all(of connection: OpaquePointer) -> [String: StoredTable]? {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    let sql = "SELECT name, rootpage, sql FROM main.sqlite_master WHERE type = 'table'"
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
    var tables: [String: StoredTable] = [:]
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return tables }
      guard code == SQLITE_ROW else { return nil }
      let text = { (column: Int32) in sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "" }
      tables[text(0).lowercased()] = StoredTable(
        rootPage: UInt32(clamping: sqlite3_column_int64(statement, 1)), definition: text(2))
    }
  }
}
