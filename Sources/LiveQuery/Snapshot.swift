/// A whole result as it is told to a client that starts: protocol 3.2, before it is written as JSON.
package struct Snapshot: Sendable {
  package var version: String
  package var commit: Int64
  package var columns: [String]
  package var key: [String]
  package var total: Int
  package var sections: [SectionInfo]
  /// Nil when everything is wanted.
  package var window: Window?
  /// Offset in the result of the first of `rows`.
  package var offset: Int
  package var rows: PackedRows
  /// Which of `rows` one message has; the others follow in `rows` messages.
  package var range: Range<Int>
  /// In the order of their names.
  package var alongside: [NamedValue]

  package init(
    version: String, commit: Int64, columns: [String], key: [String], total: Int, sections: [SectionInfo],
    window: Window?, offset: Int, rows: PackedRows, range: Range<Int>, alongside: [NamedValue] = []
  ) {
    self.version = version
    self.commit = commit
    self.columns = columns
    self.key = key
    self.total = total
    self.sections = sections
    self.window = window
    self.offset = offset
    self.rows = rows
    self.range = range
    self.alongside = alongside
  }

  package var isComplete: Bool { range.upperBound == rows.count }
}
