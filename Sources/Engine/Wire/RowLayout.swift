package import LiveQuery

/// How the rows of one query are written: the shape, and each column's name laid out as a JSON member name.
package struct RowLayout: Sendable {
  package let shape: Shape
  let columns: [String]
  /// The columns' names as JSON. They are encoded once, because every row has them.
  let names: [[UInt8]]

  package init(columns: [String], shape: Shape) {
    self.shape = shape
    self.columns = columns
    let isNaming = shape == .objects
    names = (isNaming ? columns : []).map { column in
      var writer = JSONWriter()
      writer.string(column)
      return writer.bytes + [UInt8(ascii: ":")]
    }
  }
}

extension JSONWriter {
  /// Writes a whole row in the layout's shape.
  mutating func row(_ rows: PackedRows, _ index: Int, _ layout: RowLayout) {
    rows.withRow(index) { row(&$0, layout) }
  }

  mutating func row(_ reader: inout PackedValueReader, _ layout: RowLayout) {
    switch layout.shape {
    case .arrays:
      array { for _ in layout.columns { $0.value(reader.next()) } }
    case .objects:
      object {
        for name in layout.names {
          $0.name(encoded: name)
          $0.value(reader.next())
        }
      }
    }
  }

  /// Writes the columns of a row that are in `changed`, always as an object.
  mutating func changes(_ rows: PackedRows, _ index: Int, _ layout: RowLayout, _ changed: ColumnSet) {
    rows.withRow(index) { reader in
      object {
        for (column, name) in layout.columns.enumerated() {
          let value = reader.next()
          guard changed.contains(column) else { continue }
          $0.name(escaping: name)
          $0.value(value)
        }
      }
    }
  }
}
