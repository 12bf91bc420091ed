import Store

/// The table that is made for a file.
struct TableDefinition {
  struct Column {
    var name: String
    /// As in CREATE TABLE, for people.
    var type: String
    var isKey: Bool
  }

  let name: String
  /// A key that the file does not have comes first.
  let columns: [Column]
  /// The kinds of the file's columns.
  let kinds: [ColumnKind]
  /// The file's column that is the key; none when one was added.
  let fileKey: [Int]
  private let names: [String]

  /// - Throws: `mismatch` when the key is no column.
  init(
    named name: String, _ csv: CSVTable, _ survey: CSVSurvey, _ options: CSVImport.Options
  ) throws(ImportError) {
    self.name = name
    names = csv.names
    let kinds = survey.columns.map(\.kind)
    self.kinds = kinds
    let key = if let wanted = options.key { try csv.index(of: wanted) } else { survey.uniqueID }
    fileKey = key.map { [$0] } ?? []
    var columns = names.indices.map { Column(name: csv.names[$0], type: kinds[$0].type, isKey: $0 == key) }
    if key == nil {
      let isTaken = names.contains { isSameName($0, "id") }
      columns.insert(
        Column(name: isTaken ? ColumnNames.unused("row_id", names) : "id", type: "INTEGER", isKey: true), at: 0)
    }
    self.columns = columns
  }

  var createSQL: String {
    let list = columns.map { column in
      // Only a key of integers is the rowid, and NULL makes a new one: RowWriter lets no NULL through.
      let key = column.isKey ? (column.type == "INTEGER" ? " PRIMARY KEY" : " PRIMARY KEY NOT NULL") : ""
      return "\(quotedIdentifier(column.name)) \(column.type)\(key)"
    }
    return "CREATE TABLE main.\(quotedIdentifier(name))(\(list.joined(separator: ", ")))"
  }

  var insertSQL: String {
    let parameters = Array(repeating: "?", count: names.count).joined(separator: ", ")
    return """
      INSERT INTO main.\(quotedIdentifier(name))(\(names.map(quotedIdentifier).joined(separator: ", "))) \
      VALUES (\(parameters))
      """
  }
}
