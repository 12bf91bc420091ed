/// How the rows of a result are sorted, as far as its columns tell: protocol 3.2, `order` and `sectionOrder`.
///
/// With it a client can place a row of its own.
package struct RowOrder: Hashable, Sendable {
  /// The terms by which rows stand within a section, the key last. Empty: not known, as with a server that does not
  /// send them.
  package var terms: [Term] = []
  /// The names of sections; nil: all rows are one section.
  package var section: Term?
  /// Whether sections come in the order of their names.
  package var sortsSections = true

  package init() {}

  /// An expression by which rows sort.
  package struct Term: Hashable, Sendable {
    /// The result's column that has the value, or that `calls` are applied to; nil: it is not among the columns.
    package var column: String?
    /// Where `column` is nil and the value is a table's column: that column with its table, as in `well.name`.
    package var source: String?
    /// The functions applied to the column's text, in their order.
    package var calls: [Call] = []
    package var collation = Collation.binary
    package var isDescending = false
    package var areNullsFirst = true

    package init() {}
  }

  /// A function of one text.
  package enum Call: Hashable, Sendable {
    case upper
    case lower
    /// The first character is 1.
    case substr(start: Int, length: Int?)
  }
}

/// SQLite's own collations.
package enum Collation: String, Sendable {
  case binary = "BINARY"
  case nocase = "NOCASE"
  case rtrim = "RTRIM"
}
