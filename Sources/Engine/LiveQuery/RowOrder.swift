/// How the rows of a result are sorted, as far as its columns show this: protocol 3.2, `order` and `sectionOrder`.
///
/// With it, a client can find the place of a new row.
package struct RowOrder: Hashable, Sendable {
  /// The terms that sort rows within a section, the key last. Empty if unknown, as with a server that does not send
  /// them.
  package var terms: [Term] = []
  /// The order of sections by name; nil if all rows are one section.
  package var section: Term?
  /// Whether sections are in the order of their names.
  package var sortsSections = true

  package init() {}

  /// An expression that sorts rows.
  package struct Term: Hashable, Sendable {
    /// The result's column that has the value, or that `calls` are applied to; nil if the result has no such column.
    package var column: String?
    /// If `column` is nil and the value is a table's column: that column with its table, as in `well.name`.
    package var source: String?
    /// The functions applied to the column's text, in their order.
    package var calls: [Call] = []
    package var collation = Collation.binary
    package var isDescending = false
    package var areNullsFirst = true

    package init() {}
  }

  /// A function of a text.
  package enum Call: Hashable, Sendable {
    case upper
    case lower
    /// A part of the text, in characters; the first character is 1.
    case substr(start: Int, length: Int?)
  }
}

/// SQLite's own collations.
package enum Collation: String, Sendable {
  case binary = "BINARY"
  case nocase = "NOCASE"
  case rtrim = "RTRIM"
}
