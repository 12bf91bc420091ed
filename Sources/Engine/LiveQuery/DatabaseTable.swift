/// A table or view that clients may read: protocol 4, `/v1/schema`.
package struct DatabaseTable: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package var name: String
    /// As declared; empty when nothing was.
    package var type: String
    package var isNotNull: Bool
    /// Place in the primary key from 1; 0 when not in it.
    package var keyPosition: Int
    /// Whether SQLite computes its values, so that they cannot be written.
    package var isGenerated = false
    /// The default value of a new row, as SQL; nil for NULL.
    package var defaultSQL: String?
    /// The texts that it may have, where the table's CHECK lists them; empty: whatever its type allows.
    package var values: [String] = []

    package init(name: String, type: String, isNotNull: Bool, keyPosition: Int) {
      self.name = name
      self.type = type
      self.isNotNull = isNotNull
      self.keyPosition = keyPosition
    }
  }

  package struct ForeignKey: Hashable, Sendable {
    package var columns: [String]
    /// The table that is referred to.
    package var table: String
    /// Its columns; empty where the declaration names no such columns.
    package var references: [String]
    /// The action on these rows when the row that they refer to is deleted: `cascade`, `set null` or `set default`;
    /// nil: it cannot be deleted.
    package var onDelete: String?

    package init(columns: [String], table: String, references: [String], onDelete: String? = nil) {
      self.columns = columns
      self.table = table
      self.references = references
      self.onDelete = onDelete
    }
  }

  /// The table whose rows a full-text table searches.
  package struct SearchedTable: Hashable, Sendable {
    package var name: String
    /// The column whose values are the rowids of the full-text table.
    package var rowid: String

    package init(name: String, rowid: String) {
      self.name = name
      self.rowid = rowid
    }
  }

  package var name: String
  /// `table`, `view` or `virtual`.
  package var kind: String
  package var columns: [Column]
  /// The columns that identify a row, `rowid` among them; nil when it has none, as views.
  package var key: [String]?
  package var isWithoutRowid = false
  package var foreignKeys: [ForeignKey] = []
  /// Its changes may change other rows.
  package var hasTriggers = false
  /// The module of a virtual table, in lower case: `fts5`, `rtree`.
  package var module: String?
  package var searched: SearchedTable?
  /// Columns that are left out because SQLite cannot compute them here.
  package var unreadable: [Unreadable] = []

  /// A column, and SQLite's words.
  package struct Unreadable: Hashable, Sendable {
    package var column: String
    package var reason: String

    package init(column: String, reason: String) {
      self.column = column
      self.reason = reason
    }
  }

  package init(name: String, kind: String, columns: [Column], key: [String]? = nil) {
    self.name = name
    self.kind = kind
    self.columns = columns
    self.key = key
  }
}
