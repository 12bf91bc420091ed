/// A table or view that clients may read: protocol 4, `/v1/schema`.
package struct DatabaseTable: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package var name: String
    /// As declared; empty when nothing was.
    package var type: String
    package var isNotNull: Bool
    /// Place in the primary key from 1; 0 when not in it.
    package var keyPosition: Int

    package init(name: String, type: String, isNotNull: Bool, keyPosition: Int) {
      self.name = name
      self.type = type
      self.isNotNull = isNotNull
      self.keyPosition = keyPosition
    }
  }

  package var name: String
  /// `table`, `view` or `virtual`.
  package var kind: String
  package var columns: [Column]

  package init(name: String, kind: String, columns: [Column]) {
    self.name = name
    self.kind = kind
    self.columns = columns
  }
}
