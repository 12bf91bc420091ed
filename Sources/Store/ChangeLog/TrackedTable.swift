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

  package init(id: Int64, name: String, columns: [String], key: TableKey) {
    self.id = id
    self.name = name
    self.columns = columns
    self.key = key
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

  /// Whether column `index` may have changed: certain for the first 62 columns.
  package func contains(_ index: Int) -> Bool {
    rawValue & (1 << Int64(min(index, Self.lastBit))) != 0
  }

  package func intersects(_ other: ColumnMask) -> Bool {
    rawValue & other.rawValue != 0
  }
}
