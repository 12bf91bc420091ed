/// A table or view that clients may read: protocol 4, `/v1/schema`.
package struct DatabaseTable: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package var name: String
    /// The declared type; empty if none was declared.
    package var type: String
    package var isNotNull: Bool
    /// The column's place in the primary key, from 1; 0 if it is not in the key.
    package var keyPosition: Int
    /// Whether SQLite computes the column's values, so that they cannot be written.
    package var isGenerated = false
    /// The default value of a new row, as SQL; nil for NULL.
    package var defaultSQL: String?
    /// The texts that the column may have, if a CHECK of the table lists them; empty if it may have any value of its
    /// type.
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
    /// The table that the foreign key refers to.
    package var table: String
    /// The columns of that table; empty if the declaration names columns that do not exist.
    package var references: [String]
    /// The action on the referring rows when the row that they refer to is deleted: `cascade`, `set null` or `set
    /// default`; nil if that row cannot be deleted.
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
  /// The columns that identify a row, such as `rowid`; nil if no columns do, as in views.
  package var key: [String]?
  package var isWithoutRowid = false
  package var foreignKeys: [ForeignKey] = []
  /// Whether the table has triggers, so that changes of its rows may change other rows.
  package var hasTriggers = false
  /// The module of a virtual table, in lower case: `fts5`, `rtree`.
  package var module: String?
  package var searched: SearchedTable?
  /// Columns that are left out because SQLite cannot compute them here.
  package var unreadable: [Unreadable] = []

  /// A column, and SQLite's message why it cannot be computed.
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
