package import LiveQuery

// Reads a table's declaration, except its columns, for `/v1/schema`.
extension SchemaCatalog {
  /// The table's foreign keys, in the order of their declaration.
  func foreignKeys(_ db: OpaquePointer, of table: Table) throws(SQLiteFailure) -> [DatabaseTable.ForeignKey] {
    guard table.kind == "table" else { return [] }
    let sql = """
      SELECT id, "table", "from", "to", on_delete FROM pragma_foreign_key_list(?, 'main') ORDER BY seq
      """
    let all = try PreparedStatement.rows(db, sql, [.text(table.name)]) { row in
      (
        id: row.integer(0), table: row.text(1) ?? "", from: row.text(2) ?? "", to: row.text(3),
        action: row.text(4) ?? ""
      )
    }
    return try Set(all.map(\.id)).sorted(by: >).map { id throws(SQLiteFailure) in
      let rows = all.filter { $0.id == id }
      let parent = rows[0].table
      let named = rows.compactMap(\.to)
      // A foreign key without columns refers to the parent's primary key.
      let references = named.isEmpty ? try primaryKey(db, of: parent) : named
      // SQLite accepts foreign keys that do not match the parent's columns.
      let isWhole = references.count == rows.count
      let action = rows[0].action.lowercased()
      return .init(
        columns: rows.map(\.from), table: parent, references: isWhole ? references : [],
        onDelete: ["no action", "restrict"].contains(action) ? nil : action)
    }
  }

  /// The SQL of triggers, by lower-case name of their table or view.
  func triggers(_ db: OpaquePointer) throws(SQLiteFailure) -> [String: [String]] {
    let all = try PreparedStatement.rows(db, "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'") { row in
      (table: (row.text(0) ?? "").lowercased(), sql: row.text(1) ?? "")
    }
    return Dictionary(grouping: all, by: \.table).mapValues { $0.map(\.sql) }
  }

  /// The event of a trigger (INSERT, UPDATE or DELETE), if its SQL names a table.
  static func event(of trigger: String, naming table: String) -> String? {
    let tokenizer = SQLTokenizer(trigger)
    let tokens = tokenizer.filter { $0.kind != .comment }
    guard tokens.contains(where: { isSameName(tokenizer.unquotedText(of: $0), table) }) else { return nil }
    return tokens.lazy.filter { $0.kind == .identifier }.map { tokenizer.text(of: $0).uppercased() }
      .first { ["INSERT", "UPDATE", "DELETE"].contains($0) }
  }

  private func primaryKey(_ db: OpaquePointer, of table: String) throws(SQLiteFailure) -> [String] {
    let sql = "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk"
    return try PreparedStatement.texts(db, sql, [.text(table)])
  }
}

extension SchemaCatalog.Table {
  /// The module of a virtual table, in lower case.
  var module: String? {
    guard kind == "virtual" else { return nil }
    let words = self.words.map { $0.lowercased() }
    return zip(words, words.dropFirst()).first { first, _ in first == "using" }?.1
  }

  /// Whether a full-text table stores the text of its rows itself.
  var keepsRows: Bool { option("content") == nil }

  /// The table whose rows a full-text table searches, if that is a different one.
  var searched: DatabaseTable.SearchedTable? {
    guard let content = option("content"), !content.isEmpty else { return nil }
    return .init(name: content, rowid: option("content_rowid") ?? "rowid")
  }

  /// The text after `name =` in the arguments of a virtual table; nil if there is no such argument.
  private func option(_ name: String) -> String? {
    let words = self.words
    for index in words.indices.dropLast(2) where isSameName(words[index], name) && words[index + 1] == "=" {
      return words[index + 2]
    }
    return nil
  }

  /// The words of the definition, without quotes.
  private var words: [String] {
    let tokenizer = SQLTokenizer(definition)
    return tokenizer.filter { $0.kind != .comment }.map { tokenizer.unquotedText(of: $0) }
  }
}

extension [DatabaseTable] {
  /// The list without names of tables that are not in it, so that a role never sees the name of a hidden table.
  package func withoutUnlisted() -> [DatabaseTable] {
    let known = Dictionary(map { ($0.name.lowercased(), $0) }) { first, _ in first }
    return map { table in
      var result = table
      result.foreignKeys = table.foreignKeys.filter { key in
        guard let target = known[key.table.lowercased()] else { return false }
        return table.hasColumns(key.columns) && target.hasColumns(key.references)
      }
      if let searched = table.searched, known[searched.name.lowercased()] == nil { result.searched = nil }
      return result
    }
  }
}

extension DatabaseTable {
  fileprivate func hasColumns(_ names: [String]) -> Bool {
    names.allSatisfy { name in columns.contains { isSameName($0.name, name) } }
  }
}
