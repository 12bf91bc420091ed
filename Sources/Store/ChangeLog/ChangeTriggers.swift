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
    [insert, delete, update, capturedUpdate, keyUpdate, rowidUpdate].compactMap { $0 }
      + DisplaceTriggers(id: id, shape: shape).all
  }

  private var insert: ChangeLogSchema.Trigger {
    trigger("insert", "AFTER INSERT", body: log(Schema.insert, of: "NEW"))
  }

  private var delete: ChangeLogSchema.Trigger {
    trigger("delete", "AFTER DELETE", body: log(Schema.delete, of: "OLD", withOldValues: true))
  }

  /// An update that leaves the key and the captured columns alone; nil for a table without others.
  private var update: ChangeLogSchema.Trigger? {
    let columns = columnsBesidesKey.filter { !isCaptured($0) }
    guard !columns.isEmpty else { return nil }
    let captured = columnsBesidesKey.filter(isCaptured)
    let capturedIsSame = captured.isEmpty ? "" : " AND NOT (\(isChanged(captured)))"
    return trigger(
      "update", "AFTER UPDATE", when: "NOT (\(keyDifference)) AND (\(isChanged(columns)))\(capturedIsSame)",
      body: log(Schema.update, of: "NEW", columns: mask(columns)))
  }

  /// An update of captured columns, which logs what they were; nil for a table without them.
  ///
  /// A second trigger costs less than one that gives the values always, or by CASE: updates of other columns are
  /// as fast as without captured columns, or faster, for each compares only what it must. It has no OF: where a
  /// BEFORE trigger of the user's changes the row too, OLD and NEW differ in columns that the statement does not set.
  private var capturedUpdate: ChangeLogSchema.Trigger? {
    let captured = columnsBesidesKey.filter(isCaptured)
    guard !captured.isEmpty else { return nil }
    return trigger(
      "update_captured", "AFTER UPDATE", when: "NOT (\(keyDifference)) AND (\(isChanged(captured)))",
      body: log(Schema.update, of: "NEW", columns: mask(columnsBesidesKey), withOldValues: true))
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
      body: log(Schema.delete, of: "OLD", withOldValues: true) + " " + log(Schema.insert, of: "NEW"))
  }

  /// An update of the rowid where the key is another. No column tells of it, so the row goes and comes; nil for tables
  /// without rowid, or where nothing can name it.
  private var rowidUpdate: ChangeLogSchema.Trigger? {
    guard case .columns = shape.key, let alias = shape.rowidAlias else { return nil }
    return trigger(
      "rowid", "AFTER UPDATE OF " + shape.namesOfRowid.map(quotedIdentifier).joined(separator: ", "),
      when: "NOT (\(keyDifference)) AND OLD.\(alias) <> NEW.\(alias)",
      body: log(Schema.delete, of: "OLD", withOldValues: true) + " " + log(Schema.insert, of: "NEW"))
  }

  // MARK: - Columns

  private typealias NumberedColumn = (offset: Int, element: TableShape.Column)

  private var columnsBesidesKey: [NumberedColumn] {
    shape.columns.enumerated().filter { _, column in !shape.key.names.contains { isSameName($0, column.name) } }
  }

  /// Whether a change of the column brings the old values into the log: it does too for a column that shares its bit
  /// with a captured one, since readers go by the bits.
  private func isCaptured(_ column: NumberedColumn) -> Bool {
    column.offset < ColumnMask.lastBit
      ? shape.captured.contains(column.offset) : shape.captured.contains { $0 >= ColumnMask.lastBit }
  }

  private func isChanged(_ columns: [NumberedColumn]) -> String {
    balanced(columns.map { difference($0.element) }, by: "OR")
  }

  /// The SQL that computes a `ColumnMask`.
  private func mask(_ columns: [NumberedColumn]) -> String {
    let single = columns.filter { $0.offset < ColumnMask.lastBit }.map { "((\(isChanged([$0]))) << \($0.offset))" }
    let shared = columns.filter { $0.offset >= ColumnMask.lastBit }
    let rest = shared.isEmpty ? [] : ["((\(isChanged(shared))) << \(ColumnMask.lastBit))"]
    return balanced(single + rest, by: "|")
  }

  // MARK: - Parts

  private func trigger(
    _ suffix: String, _ event: String, when condition: String? = nil, body: String
  ) -> ChangeLogSchema.Trigger {
    let name = Schema.triggerPrefix(id) + suffix
    let when = condition.map { " WHEN \($0)" } ?? ""
    let sql = "CREATE TRIGGER \"\(name)\" \(event) ON \(quotedIdentifier(shape.name))\(when) BEGIN \(body) END"
    return ChangeLogSchema.Trigger(name: name, sql: sql)
  }

  /// `columns` is an SQL expression for the mask.
  private func log(
    _ operation: Int64, of row: String, columns: String = "-1", withOldValues: Bool = false
  ) -> String {
    let key = shape.key.names.map { "\(row).\(quotedIdentifier($0))" }
    let old = withOldValues ? shape.captured.map { "OLD.\(quotedIdentifier(shape.columns[$0].name))" } : []
    let values = ["\(id)", "\(operation)", columns] + key + old
    let names = Schema.columns(values: key.count + old.count)
    return "INSERT INTO \"\(Schema.log)\"(\(names)) VALUES (\(values.joined(separator: ", ")));"
  }

  private var keyDifference: String {
    switch shape.key {
    case .rowid(let alias):
      "OLD.\(quotedIdentifier(alias)) <> NEW.\(quotedIdentifier(alias))"
    case .columns(let columns):
      balanced(columns.compactMap { shape.column($0.name) }.map(difference), by: "OR")
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
