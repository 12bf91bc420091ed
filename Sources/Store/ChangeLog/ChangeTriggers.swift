/// The triggers that log the rows a statement writes. (`DisplaceTriggers` logs those that REPLACE throws out.)
///
/// Every part of their form was measured: a row costs the running of a trigger program (0.1 µs for an UPDATE, 0.35 µs
/// for an INSERT, even of an empty one) and an append to the log's B-tree (0.3 µs). A WHEN clause and a second copy of
/// its comparisons in the mask are almost free. Computing the mask once, in a subquery, makes a 1,000-row UPDATE take
/// 1.7 times as long, and a WITHOUT ROWID log twice as long.
struct ChangeTriggers {
  let id: Int64
  let shape: TableShape

  typealias Schema = ChangeLogSchema

  /// In no particular order; their names are unique in the database.
  var all: [ChangeLogSchema.Trigger] {
    [insert, delete, update, keyUpdate].compactMap { $0 } + DisplaceTriggers(id: id, shape: shape).all
  }

  private var insert: ChangeLogSchema.Trigger {
    trigger("insert", "AFTER INSERT", body: log(Schema.insert, of: "NEW"))
  }

  private var delete: ChangeLogSchema.Trigger {
    trigger("delete", "AFTER DELETE", body: log(Schema.delete, of: "OLD"))
  }

  /// An update that leaves the key alone; nil for a table that is all key.
  private var update: ChangeLogSchema.Trigger? {
    let keyNames = shape.key.names
    let others = shape.columns.enumerated().filter { _, column in
      !keyNames.contains { isSameName($0, column.name) }
    }
    guard !others.isEmpty else { return nil }
    let isChanged = Schema.joined(others.map { difference($0.element) }, by: "OR")
    // Columns from the 63rd on share one bit.
    let single = others.filter { $0.offset < ColumnMask.lastBit }.map {
      "((\(difference($0.element))) << \($0.offset))"
    }
    let shared = others.filter { $0.offset >= ColumnMask.lastBit }.map { difference($0.element) }
    let rest = shared.isEmpty ? [] : ["((\(Schema.joined(shared, by: "OR"))) << \(ColumnMask.lastBit))"]
    return trigger(
      "update", "AFTER UPDATE", when: "NOT (\(keyDifference)) AND (\(isChanged))",
      body: log(Schema.update, of: "NEW", columns: Schema.joined(single + rest, by: "|")))
  }

  /// An update of the key takes one row away and brings another.
  ///
  /// OF makes SQLite leave the trigger out of statements that cannot change the key. It goes by the name that the
  /// statement uses, so an INTEGER PRIMARY KEY is listed with all names of the rowid.
  private var keyUpdate: ChangeLogSchema.Trigger {
    var names = shape.key.names
    if case .rowid = shape.key {
      names += TableShape.rowidNames.filter { alias in !names.contains { isSameName($0, alias) } }
    }
    return trigger(
      "rekey", "AFTER UPDATE OF " + names.map(quotedIdentifier).joined(separator: ", "), when: keyDifference,
      body: log(Schema.delete, of: "OLD") + " " + log(Schema.insert, of: "NEW"))
  }

  // MARK: - Parts

  private func trigger(
    _ suffix: String, _ event: String, when condition: String? = nil, body: String
  ) -> ChangeLogSchema.Trigger {
    let name = "\(Schema.prefix)\(id)_\(suffix)"
    let when = condition.map { " WHEN \($0)" } ?? ""
    let sql = "CREATE TRIGGER \"\(name)\" \(event) ON \(quotedIdentifier(shape.name))\(when) BEGIN \(body) END"
    return ChangeLogSchema.Trigger(name: name, sql: sql)
  }

  /// `columns` is an SQL expression for the mask.
  private func log(_ operation: Int64, of row: String, columns: String = "-1") -> String {
    let names = shape.key.names
    let keyColumns = names.indices.map(Schema.keyColumn).joined(separator: ", ")
    let values = names.map { "\(row).\(quotedIdentifier($0))" }.joined(separator: ", ")
    return """
      INSERT INTO "\(Schema.log)"(tbl, op, cols, \(keyColumns)) VALUES (\(id), \(operation), \(columns), \(values));
      """
  }

  private var keyDifference: String {
    switch shape.key {
    case .rowid(let alias):
      "OLD.\(quotedIdentifier(alias)) <> NEW.\(quotedIdentifier(alias))"
    case .columns(let columns):
      Schema.joined(columns.compactMap { shape.column($0.name) }.map(difference), by: "OR")
    }
  }

  /// Whether a column's value changed, bit by bit: under NOCASE `'a' IS NOT 'A'` is false, and without an affinity
  /// `1 IS NOT 1.0` is.
  private func difference(_ column: TableShape.Column) -> String {
    let name = quotedIdentifier(column.name)
    let comparison = "OLD.\(name) IS NOT NEW.\(name) COLLATE BINARY"
    return column.isExact ? comparison : "\(comparison) OR typeof(OLD.\(name)) <> typeof(NEW.\(name))"
  }
}
