/// The triggers that log the rows REPLACE is about to throw out.
///
/// `INSERT OR REPLACE` and `UPDATE OR REPLACE` delete every row that stands in the new row's way in any unique index,
/// and unless `recursive_triggers` is on no delete trigger hears of it. So BEFORE the write, the rows that a unique
/// index holds under the new row's values are looked up and logged: all that REPLACE could delete, whether or not the
/// statement is a REPLACE, which a trigger cannot see. (A plain statement fails on such rows and takes the log rows
/// back; IGNORE and DO UPDATE leave some too many.) A table whose only unique index is its exact key needs no such
/// trigger: there the row thrown out and the row written have one key. Unless it has captured columns: then what the
/// row thrown out had in them is logged.
///
/// SQL of the user's own is never rewritten. It is evaluated over the stored row where it stands, as `FROM table`,
/// and over the new row as `FROM (SELECT a, … UNION ALL SELECT NEW.a, …)`, where SQLite itself resolves the names.
struct DisplaceTriggers {
  let id: Int64
  let shape: TableShape

  typealias Schema = ChangeLogSchema

  /// An alias that is not `new` or `old`, which a table may well be called.
  private static let row = "_freshet_row"

  var all: [ChangeLogSchema.Trigger] {
    [insert, update].compactMap { $0 }
  }

  private var insert: ChangeLogSchema.Trigger? {
    trigger("displace_insert", "BEFORE INSERT", isUpdate: false)
  }

  private var update: ChangeLogSchema.Trigger? {
    var event = "BEFORE UPDATE"
    if let columns = columnsOfIndexes {
      let names = columns + (rowidConflict == nil ? [] : namesThatSetRowid)
      event += " OF " + names.map(quotedIdentifier).joined(separator: ", ")
    }
    return trigger("displace_update", event, isUpdate: true)
  }

  /// Rows in the way are looked up twice: WHEN they EXIST, and then to be logged. When there are none, which is nearly
  /// always, that costs half of what an INSERT … SELECT of nothing does.
  private func trigger(_ suffix: String, _ event: String, isUpdate: Bool) -> ChangeLogSchema.Trigger? {
    let lookups = lookups(isUpdate: isUpdate)
    guard !lookups.isEmpty else { return nil }
    let name = Schema.triggerPrefix(id) + suffix
    let names = shape.key.names + shape.captured.map { shape.columns[$0].name }
    let values = names.map { "\(Self.row).\(quotedIdentifier($0))" }.joined(separator: ", ")
    let exist = lookups.map { ($0.isNeeded.map { "\($0) AND " } ?? "") + "EXISTS (SELECT 1 \($0.rows))" }
    let body = lookups.map { lookup in
      "INSERT INTO \"\(Schema.log)\"(\(Schema.columns(values: names.count))) "
        + "SELECT \(id), \(Schema.displace), -1, \(values) \(lookup.rows);"
    }
    let sql = """
      CREATE TRIGGER "\(name)" \(event) ON \(quotedIdentifier(shape.name)) WHEN \(balanced(exist, by: "OR")) \
      BEGIN \(body.joined(separator: " ")) END
      """
    return ChangeLogSchema.Trigger(name: name, sql: sql)
  }

  // MARK: - Which indexes, which columns

  /// The unique indexes that can bring rows of different keys into conflict; with captured columns, all.
  private var indexes: [UniqueIndex] {
    shape.uniqueIndexes.filter { index in
      !index.isPrimaryKey || !shape.captured.isEmpty
        || !index.distinctColumns.allSatisfy { $0.collation == "BINARY" && shape.column($0.name)?.isExact == true }
    }
  }

  /// The columns whose update can bring a conflict; nil when a generated column hides them.
  private var columnsOfIndexes: [String]? {
    var names: [String] = []
    for index in indexes {
      for part in index.parts {
        switch part.term {
        case .column(let name): names.append(name)
        case .expression(let sql): names += columns(in: sql)
        }
      }
      guard let condition = index.condition else { continue }
      names += columns(in: condition)
      if usesRowid(condition) { names += TableShape.rowidNames.filter { shape.column($0) == nil } }
    }
    guard !names.contains(where: { shape.column($0)?.isGenerated == true }) else { return nil }
    // An INTEGER PRIMARY KEY can be set by the rowid's names as well.
    if case .rowid(let alias) = shape.key, names.contains(where: { isSameName($0, alias) }) {
      names += TableShape.rowidNames
    }
    return names
  }

  /// The columns whose NULL is replaced before it is stored, if an indexed value or condition is computed from
  /// columns.
  private var replacedNulls: [String] {
    let isComputed = indexes.contains { index in
      index.condition != nil
        || index.parts.contains { part in
          guard case .column(let name) = part.term else { return true }
          return shape.column(name)?.isGenerated == true
        }
    }
    guard isComputed else { return [] }
    return shape.columns.filter { $0.replacementForNull != nil }.map { "NEW.\(quotedIdentifier($0.name)) IS NULL" }
  }

  // MARK: - Rows in the way

  private struct Lookup {
    /// `FROM … WHERE …`: the rows.
    let rows: String
    /// A condition on the new row alone, without which there are none.
    var isNeeded: String?
  }

  private func lookups(isUpdate: Bool) -> [Lookup] {
    func rows(_ condition: String) -> String {
      "FROM \(quotedIdentifier(shape.name)) AS \(Self.row) WHERE (\(condition))"
        + (isUpdate ? " AND \(isOtherRow)" : "")
    }
    var lookups = indexes.map { Lookup(rows: rows(condition($0, isUpdate: isUpdate))) }
    if let rowidConflict, let alias {
      // Before an INSERT that gives no rowid, NEW.rowid is -1. So a REPLACE that gives -1 goes unseen here, in
      // return for bulk inserts by text keys that take a third less time.
      lookups.append(Lookup(rows: rows(rowidConflict), isNeeded: isUpdate ? nil : "NEW.\(alias) <> -1"))
    }
    // What is computed for a new row here is computed before REPLACE puts a default in place of a NULL. It takes a
    // NULL written into a NOT NULL column to come to that: then any row may be in the way.
    if !replacedNulls.isEmpty {
      let isNeeded = "(\(balanced(replacedNulls, by: "OR")))"
      lookups.append(Lookup(rows: rows(isNeeded), isNeeded: isNeeded))
    }
    return lookups
  }

  /// `INSERT OR REPLACE INTO t(rowid, …)`: the rowid is unique too. Where it is the key, only captured columns make
  /// it worth looking.
  private var rowidConflict: String? {
    if case .rowid = shape.key, shape.captured.isEmpty { return nil }
    return alias.map { "\(Self.row).\($0) = NEW.\($0)" }
  }

  /// The rowid by a name that no column of another meaning has, quoted; nil WITHOUT ROWID.
  private var alias: String? {
    if case .rowid(let alias) = shape.key { return quotedIdentifier(alias) }
    return shape.rowidAlias
  }

  /// What an UPDATE may call the rowid.
  private var namesThatSetRowid: [String] {
    guard case .rowid(let alias) = shape.key else { return TableShape.rowidNames }
    return TableShape.rowidNames.filter { !isSameName($0, alias) } + [alias]
  }

  /// That a stored row is not the one being updated.
  private var isOtherRow: String {
    if let alias { return "\(Self.row).\(alias) <> OLD.\(alias)" }
    let same = shape.key.names.map(quotedIdentifier).map { "\(Self.row).\($0) IS OLD.\($0) COLLATE BINARY" }
    return "NOT (\(balanced(same, by: "AND")))"
  }

  /// That a stored row stands in `index` where the new row will; written so that SQLite searches that very index.
  ///
  /// What depends on a rowid that is not known yet is left out: more rows than that are then in the way.
  private func condition(_ index: UniqueIndex, isUpdate: Bool) -> String {
    var terms = index.parts.compactMap { part -> String? in
      let collation = quotedIdentifier(part.collation)
      switch part.term {
      case .column(let name):
        let isKnown = isUpdate || !shape.generatesFromRowid || shape.column(name)?.isGenerated == false
        return isKnown ? "\(Self.row).\(quotedIdentifier(name)) = \(newValue(name)) COLLATE \(collation)" : nil
      case .expression(let sql):
        let isKnown = isUpdate || !usesRowid(sql)
        return isKnown ? "(\(sql)) = \(newValue(ofExpression: sql)) COLLATE \(collation)" : nil
      }
    }
    if let condition = index.condition {
      terms.append("(\(condition))")
      if !usesRowid(condition) { terms.append(newValue(ofExpression: condition)) }
    }
    return terms.isEmpty ? "1" : terms.joined(separator: " AND ")
  }

  /// The value that will be stored in a column.
  private func newValue(_ name: String) -> String {
    let value = "NEW.\(quotedIdentifier(name))"
    guard let replacement = shape.column(name)?.replacementForNull else { return value }
    return "coalesce(\(value), (\(replacement)))"
  }

  /// The value that an expression over the table's columns has for the new row.
  ///
  /// The empty first part of the union gives the columns their affinities: to SQLite `NEW.a` by itself has none, so
  /// that with 5 in an INTEGER column `a = '5'` is true and `NEW.a = '5'` is false.
  private func newValue(ofExpression sql: String) -> String {
    let names = columns(in: sql).map(quotedIdentifier)
    guard !names.isEmpty else { return "(\(sql))" }
    let stored = "SELECT \(names.joined(separator: ", ")) FROM \(quotedIdentifier(shape.name)) WHERE 0"
    let new = "SELECT \(names.map { "NEW.\($0)" }.joined(separator: ", "))"
    return "(SELECT (\(sql)) FROM (\(stored) UNION ALL \(new)))"
  }

  /// The columns that an expression may use: those of which it has the name somewhere, perhaps as another thing's.
  private func columns(in sql: String) -> [String] {
    shape.columns.map(\.name).filter { mentions(sql, $0) }
  }

  private func mentions(_ sql: String, _ name: String) -> Bool {
    let tokenizer = SQLTokenizer(sql)
    return tokenizer.contains { token in
      (token.kind == .identifier || token.kind == .quotedIdentifier)
        && isSameName(tokenizer.unquotedText(of: token), name)
    }
  }

  /// Whether an expression uses the rowid, under any of its names. Before an INSERT that leaves its choice to SQLite,
  /// the new rowid is not known.
  private func usesRowid(_ sql: String) -> Bool {
    shape.namesOfRowid.contains { mentions(sql, $0) }
  }
}
