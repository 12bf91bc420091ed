/// A table whose changes are logged.
package struct TrackedTable: Sendable, Equatable {
  /// Names the table in the log. It survives ALTER TABLE RENAME, and is not given to another table while the log
  /// still holds rows with it.
  package let id: Int64
  /// As the schema spells it.
  package let name: String
  /// All columns, generated ones too, in the order of the bits of a `ColumnMask`.
  package let columns: [String]
  package let key: TableKey
  /// The columns whose old values the log carries, as indexes into `columns`, ascending: those of the table's foreign
  /// keys (on its own side) and the plain columns of its indexes, unless they are in the key.
  package let captured: [Int]
  /// The bits of the captured columns.
  package let capturedMask: ColumnMask

  package init(id: Int64, name: String, columns: [String], key: TableKey, captured: [Int] = []) {
    self.id = id
    self.name = name
    self.columns = columns
    self.key = key
    self.captured = captured
    capturedMask = ColumnMask(rawValue: captured.reduce(0) { $0 | ColumnMask.bit($1) })
  }

  /// The column of a `ChangeRow`'s statement that holds value `position` of the key.
  package func keyColumn(_ position: Int) -> Int32 { ChangeRow.firstKeyColumn + Int32(position) }

  /// The column of a `ChangeRow`'s statement that holds the old value of column `captured[position]`, exactly as the
  /// row had it. Only rows for which `ChangeRow.hasOldValues(of:)` is true have them; in others it is NULL.
  package func oldColumn(_ position: Int) -> Int32 {
    ChangeRow.firstKeyColumn + Int32(key.count + position)
  }
}

/// What identifies a row of a table.
package enum TableKey: Sendable, Equatable, Codable {
  /// The rowid. `alias` reaches it: the INTEGER PRIMARY KEY column's name when there is one, else whichever of
  /// `rowid`, `_rowid_` and `oid` no column shadows. Without an INTEGER PRIMARY KEY, VACUUM may renumber the rows.
  case rowid(alias: String)
  /// The columns of the primary key, in its order. Unless the table is WITHOUT ROWID they may hold NULL, and rows
  /// with a NULL in their key need not be unique.
  case columns([KeyColumn])

  /// How many values a key has.
  package var count: Int {
    switch self {
    case .rowid: 1
    case .columns(let columns): columns.count
    }
  }

  /// The names by which SQL reads the key of a row; at least one.
  package var names: [String] {
    switch self {
    case .rowid(let alias): [alias]
    case .columns(let columns): columns.map(\.name)
    }
  }
}

/// A column of a primary key.
package struct KeyColumn: Sendable, Equatable, Codable {
  package let name: String
  /// The collation under which the key is unique: `BINARY`, `NOCASE`, `RTRIM` or an application's own.
  package let collation: String

  package init(name: String, collation: String) {
    self.name = name
    self.collation = collation
  }
}

/// A set of columns of one tracked table, as the log stores it.
///
/// Bit i stands for column i of `TrackedTable.columns`; columns from 62 on share bit 62. Inserted, deleted and
/// displaced rows have every bit (`all`), for a row comes or goes as a whole.
package struct ColumnMask: Sendable, Equatable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  package static let all = ColumnMask(rawValue: -1)

  /// The bit that all further columns share.
  package static let lastBit = 62

  /// The bit that stands for column `index`.
  static func bit(_ index: Int) -> Int64 { 1 << Int64(min(index, lastBit)) }

  /// Whether column `index` may have changed: certain for the first 62 columns.
  package func contains(_ index: Int) -> Bool {
    rawValue & Self.bit(index) != 0
  }

  package func intersects(_ other: ColumnMask) -> Bool {
    rawValue & other.rawValue != 0
  }
}
