package import GRDB
import LiveQuery

/// All that the triggers of one table depend on, read from the schema.
struct TableShape: Equatable {
  struct Column: Equatable {
    let name: String
    /// Whether `=` tells all values of this column apart once both are compared as BINARY text. A column without
    /// affinity does not: 1 and 1.0 are equal there and stay two values. (Under the other affinities one of them
    /// cannot be stored; -9223372036854775808, which can be both under INTEGER, is not worth a comparison per row.)
    let isExact: Bool
    /// What REPLACE stores in place of NULL: the default, as SQL, of a NOT NULL column.
    let replacementForNull: String?
    let isGenerated: Bool
  }

  let name: String
  let columns: [Column]
  let key: TableKey
  /// `TrackedTable.captured`.
  let captured: [Int]
  let uniqueIndexes: [UniqueIndex]
  /// The first of SQLite's names for the rowid that no column shadows; nil for WITHOUT ROWID tables too.
  let rowidAlias: String?
  /// Whether a generated column is computed from the INTEGER PRIMARY KEY.
  let generatesFromRowid: Bool

  /// The names that stand for the rowid in this table's SQL; none for WITHOUT ROWID tables.
  var namesOfRowid: [String] {
    guard let rowidAlias else {
      if case .rowid(let alias) = key { return [alias] }
      return []
    }
    let hidden = Self.rowidNames.filter { column($0) == nil }
    if case .rowid(let alias) = key, !isSameName(alias, rowidAlias) { return [alias] + hidden }
    return hidden
  }

  func column(_ name: String) -> Column? {
    columns.first { isSameName($0.name, name) }
  }

  static let rowidNames = ["rowid", "_rowid_", "oid"]

  static func isRowidName(_ name: String) -> Bool { rowidNames.contains { isSameName($0, name) } }
}

extension TableKey {
  /// The key of any ordinary table of the main database, tracked or not.
  ///
  /// - Throws: `no_such_table`; `not_allowed` when the table is a view or virtual, or when it has no primary key and
  ///   its columns shadow all names of the rowid.
  package static func derive(_ db: Database, table name: String) throws(StoreError) -> TableKey {
    try withStoreErrors {
      let table = try SchemaCatalog.read(db).trackable(name)
      return try TableShape.read(db, table).key
    }
  }
}

extension TableShape {
  /// Reads one table's shape: PRAGMA table_xinfo, index_list and index_xinfo, and the text of its indexes.
  static func read(_ db: Database, _ table: SchemaCatalog.Table) throws -> TableShape {
    let sql = "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?, 'main') ORDER BY cid"
    let rows = try Row.fetchAll(db, sql: sql, arguments: [table.name])
    let columns = rows.map { Column($0, isStrict: table.isStrict) }
    let indexes = try UniqueIndex.readAll(db, table: table.name)
    let alias =
      table.isWithoutRowid
      ? nil : rowidNames.first { name in !columns.contains { isSameName($0.name, name) } }
    let primaryKey: [String] = rows.filter { $0["pk"] as Int > 0 }.sorted { ($0["pk"] as Int) < $1["pk"] }
      .map { $0["name"] }
    let key = try key(of: table, primaryKey: primaryKey, indexes: indexes, rowidAlias: alias)
    return TableShape(
      name: table.name, columns: columns, key: key, captured: try captured(db, table.name, columns, key),
      uniqueIndexes: indexes, rowidAlias: alias,
      generatesFromRowid: try columns.contains(where: \.isGenerated)
        && primaryKey.contains { try isUsedByGenerated($0, db, table.name) })
  }

  /// More captured columns than any real schema has; SQLite limits a table, and so the log, to 2,000.
  private static let maximumCaptured = 200

  /// The columns by which rows are found from other tables or in order: those that statements about joins ask for.
  /// Expressions of indexes have no value in OLD and are left out.
  private static func captured(
    _ db: Database, _ table: String, _ columns: [Column], _ key: TableKey
  ) throws -> [Int] {
    let indexed = """
      SELECT DISTINCT info.cid FROM pragma_index_list(?1, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS info
      WHERE info.key AND info.cid >= 0
      """
    let referencing = try String.fetchAll(
      db, sql: "SELECT \"from\" FROM pragma_foreign_key_list(?, 'main')", arguments: [table])
    var captured = Set(try Int.fetchAll(db, sql: indexed, arguments: [table]))
    captured.formUnion(
      columns.indices.filter { index in referencing.contains { isSameName($0, columns[index].name) } })
    captured = captured.filter { index in !key.names.contains { isSameName($0, columns[index].name) } }
    return Array(captured.sorted().prefix(maximumCaptured))
  }

  /// Whether a table's definition has the name of a column inside an `AS (…)`, which only generated columns have.
  private static func isUsedByGenerated(_ name: String, _ db: Database, _ table: String) throws -> Bool {
    let master = "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?"
    let tokenizer = SQLTokenizer(try String.fetchOne(db, sql: master, arguments: [table]) ?? "")
    let words = tokenizer.filter { $0.kind != .comment && $0.kind != .string }
    var depth = 0
    for (previous, word) in zip(words, words.dropFirst()) {
      let text = tokenizer.text(of: word)
      if text == "(" && (depth > 0 || isSameName(tokenizer.text(of: previous), "AS")) { depth += 1 }
      if text == ")" && depth > 0 { depth -= 1 }
      if depth > 0 && isSameName(tokenizer.unquotedText(of: word), name) { return true }
    }
    return false
  }

  private static func key(
    of table: SchemaCatalog.Table, primaryKey: [String], indexes: [UniqueIndex], rowidAlias: String?
  ) throws(StoreError) -> TableKey {
    // INTEGER PRIMARY KEY is the one primary key without an index. (Its type does not tell: INTEGER PRIMARY KEY DESC
    // is an ordinary column with an index.)
    if let index = indexes.first(where: \.isPrimaryKey) {
      return .columns(index.distinctColumns)
    }
    if let column = primaryKey.first {
      return .rowid(alias: column)
    }
    guard let rowidAlias else {
      throw StoreError(
        code: ErrorCode.notAllowed,
        message: "table \(table.name) cannot be tracked: it has no primary key, and its columns hide the rowid")
    }
    return .rowid(alias: rowidAlias)
  }
}

extension TableShape.Column {
  fileprivate init(_ row: Row, isStrict: Bool) {
    let type = (row["type"] as String? ?? "").uppercased()
    let isNotNull: Bool = row["notnull"]
    name = row["name"]
    isExact = !(type.isEmpty || type.contains("BLOB") || isStrict && type == "ANY")
    replacementForNull = isNotNull ? (row["dflt_value"] as String?).map(Self.literalIfName) : nil
    isGenerated = (row["hidden"] as Int) >= 2
  }

  /// A default that is a bare or double-quoted word is a string, which elsewhere in SQL would be a column's name.
  private static func literalIfName(_ defaultValue: String) -> String {
    let tokenizer = SQLTokenizer(defaultValue)
    let tokens = tokenizer.filter { $0.kind != .comment }
    guard tokens.count == 1, let token = tokens.first else { return defaultValue }
    let text = tokenizer.text(of: token)
    let words = ["NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"]
    switch token.kind {
    case .identifier where !words.contains { isSameName($0, text) }:
      return quotedString(text)
    case .quotedIdentifier:
      return quotedString(tokenizer.unquotedText(of: token))
    default:
      return defaultValue
    }
  }
}
