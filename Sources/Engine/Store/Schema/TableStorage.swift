package import ChangeCapture
package import LiveQuery

/// How a table's rows are stored, to read keys and old values from records. It is a class, because it is read for every
/// change, and a structure with so many members would be copied each time.
package final class TableStorage: Sendable, Equatable {
  /// The description of the table that capture needs.
  package let table: CapturedTable
  /// For each column, the record field with its value; nil for columns that are computed when they are read.
  package let fields: [Int?]
  /// The column that stands for the rowid. Its field is always NULL.
  let rowidColumn: Int?
  /// Columns whose integers are stored as integers and read as reals.
  private let reals: Set<Int>
  /// Columns with a default other than NULL. Their value is unknown in records that end before them.
  private let defaulted: Set<Int>
  /// The fields of a row's key, in its order; nil if the rowid is the key.
  package let keyFields: [Int]?
  /// The columns of the key; nil if the rowid is the key.
  package let keyColumns: [Int]?
  /// The columns of the key as a mask; empty if the rowid is the key.
  package let keyMask: ColumnMask
  /// Decodes the table's records. `computedColumns` are decoded as NULL.
  package let decoder: RecordDecoder
  /// Columns that records do not contain, because they are computed when they are read.
  package let computedColumns: ColumnMask

  package static func == (left: TableStorage, right: TableStorage) -> Bool {
    left === right
      || left.table == right.table && left.fields == right.fields && left.rowidColumn == right.rowidColumn
        && left.reals == right.reals && left.defaulted == right.defaulted && left.keyFields == right.keyFields
  }

  package var isWithoutRowid: Bool { table.layout.isWithoutRowid }

  /// The fields to remember of every row: those of a key that is not the b-tree's own.
  package var keptFields: [Int] { isWithoutRowid ? [] : (keyFields ?? []) }

  static func read(
    _ db: OpaquePointer, _ catalog: SchemaCatalog.Table, _ key: TableKey?
  ) throws(SQLiteFailure) -> TableStorage? {
    guard catalog.rootPage > 0 else { return nil }
    let sql = "SELECT name, type, dflt_value IS NOT NULL, hidden FROM pragma_table_xinfo(?, 'main') ORDER BY cid"
    let columns = try PreparedStatement.rows(db, sql, [.text(catalog.name)]) { row in
      Column(
        name: row.text(0) ?? "", isReal: Affinity(declaredType: row.text(1) ?? "") == .real,
        hasDefault: row.integer(2) != 0, isComputed: row.integer(3) == 2)
    }
    var fields = [Int?](repeating: nil, count: columns.count)
    var keyCount = 0
    if catalog.isWithoutRowid {
      let order = try recordOrder(db, catalog.name)
      for (field, column) in order.columns.enumerated() where columns.indices.contains(column) {
        fields[column] = field
      }
      keyCount = order.keyCount
    } else {
      // Columns that are computed when they are read are not stored.
      let stored = columns.indices.filter { !columns[$0].isComputed }
      for (field, column) in stored.enumerated() { fields[column] = field }
    }
    return TableStorage(catalog, columns, fields, keyCount, key)
  }

  private struct Column {
    let name: String
    let isReal: Bool
    let hasDefault: Bool
    /// Whether the column is computed when it is read.
    let isComputed: Bool
  }

  private init(
    _ catalog: SchemaCatalog.Table, _ columns: [Column], _ fields: [Int?], _ keyCount: Int, _ key: TableKey?
  ) {
    var layout = RecordLayout(isWithoutRowid: catalog.isWithoutRowid, keyFieldCount: keyCount)
    layout.columnBits = [Int64](repeating: -1, count: fields.count { $0 != nil })
    var computed: Int64 = 0
    for (column, field) in fields.enumerated() {
      if let field { layout.columnBits[field] = ColumnMask.bit(column) } else { computed |= ColumnMask.bit(column) }
    }
    layout.computedBits = computed
    table = CapturedTable(
      name: catalog.name, rootPage: catalog.rootPage, definition: catalog.definition, layout: layout)
    self.fields = fields
    let names = columns.map(\.name)
    switch key {
    case .rowid(let alias):
      rowidColumn = names.firstIndex { isSameName($0, alias) }
      keyFields = nil
    case .columns(let key):
      rowidColumn = nil
      keyFields = key.compactMap { name in names.firstIndex { isSameName($0, name) }.flatMap { fields[$0] } }
    case nil:
      rowidColumn = nil
      keyFields = nil
    }
    keyColumns = keyFields?.compactMap { field in fields.firstIndex { $0 == field } }
    keyMask = ColumnMask(rawValue: (keyColumns ?? []).reduce(0) { $0 | ColumnMask.bit($1) })
    reals = Set(columns.indices.filter { columns[$0].isReal })
    defaulted = Set(columns.indices.filter { columns[$0].hasDefault })
    decoder = TableStorage.decoder(fields, rowidColumn, reals, defaulted)
    computedColumns = ColumnMask(rawValue: computed)
  }

  private static func decoder(
    _ fields: [Int?], _ rowidColumn: Int?, _ reals: Set<Int>, _ defaulted: Set<Int>
  ) -> RecordDecoder {
    let columnOfField = fields.indices.compactMap { field in fields.firstIndex { $0 == field } }
    let columns = fields.indices.map { column in
      RecordDecoder.Column(isReal: reals.contains(column), hasDefault: defaulted.contains(column))
    }
    return RecordDecoder(columns: columns, columnOfField: columnOfField, rowidColumn: rowidColumn)
  }

  /// The columns in the order of a `WITHOUT ROWID` table's records, which is that of the primary key's index.
  private static func recordOrder(
    _ db: OpaquePointer, _ table: String
  ) throws(SQLiteFailure) -> (columns: [Int], keyCount: Int) {
    let sql = """
      SELECT info.cid, info."key" FROM pragma_index_list(?1, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS info
      WHERE list.origin = 'pk' ORDER BY info.seqno
      """
    let rows = try PreparedStatement.rows(db, sql, [.text(table)]) { (Int($0.integer(0)), $0.integer(1) != 0) }
    return (rows.map(\.0), rows.count(where: \.1))
  }

  /// The column of a field.
  func column(ofField field: Int) -> Int? { fields.firstIndex { $0 == field } }

  /// A stored value as SQLite returns it to a reader; nil if it is unknown.
  package func value(_ stored: StoredValue, column: Int) -> PackedValue? {
    switch stored {
    case .null: .null
    case .integer(let value): reals.contains(column) ? .real(Double(value)) : .integer(value)
    case .real(let value): .real(value)
    case .text(let bytes): .text(bytes)
    case .blob(let bytes): .blob(bytes)
    case .missing: defaulted.contains(column) ? nil : .null
    }
  }
}
