import Store

/// What is known of a file once all of it has been read.
struct CSVSurvey {
  private(set) var columns: [ColumnSurvey]
  private(set) var rows = 0
  /// The column `id`, when every row has another integer there: it can be the key.
  private(set) var uniqueID: Int?

  /// - Throws: what reading does; `mismatch` when an option names a column that is not there.
  init(_ table: CSVTable, _ options: CSVImport.Options, _ progress: (Int) throws -> Void) throws {
    let texts = Set(try options.textColumns.map { name throws(ImportError) in try table.index(of: name) })
    var columns = table.names.enumerated().map {
      ColumnSurvey($1, isText: texts.contains($0), keepsDates: options.keepsDates)
    }
    let id = table.names.firstIndex { isSameName($0, "id") }
    var ids: [Int64] = []
    var rows = 0
    try table.forEachRow { record, position in
      rows += 1
      for index in columns.indices { record.withField(index) { columns[index].note($0, line: record.line) } }
      if let id, let value = record.withField(id, NumberSyntax.integer) { ids.append(value) }
      try progress(position)
    }
    self.columns = columns
    self.rows = rows
    // Sorted, for a set of millions would take several times the memory.
    ids.sort()
    let areUnique = zip(ids, ids.dropFirst()).allSatisfy { $0 != $1 }
    if let id, columns[id].kind == .integer, ids.count == rows, areUnique { uniqueID = id }
  }
}
