import Synchronization

/// A whole result for a client that begins a subscription: protocol 3.2, before it is written as JSON.
package struct Snapshot: Sendable {
  package let version: String
  package let commit: Int64
  package let columns: [String]
  package let key: [String]
  package let total: Int
  package let sections: SectionList
  /// The wanted window; nil if all rows are wanted.
  package let window: Window?
  /// The offset in the result of the first of `rows`.
  package let offset: Int
  package let rows: PackedRows
  /// The rows that this message contains; the others follow in `rows` messages.
  package var range: Range<Int>
  /// Values alongside the result, in the order of their names.
  package let alongside: [NamedValue]
  /// Likewise.
  package let totals: [NamedValue]
  package let order: RowOrder
  /// The encoded message with all rows.
  private let message = MessageOfSnapshot()

  package init(
    version: String, commit: Int64, columns: [String], key: [String], total: Int, sections: SectionList,
    window: Window?, offset: Int, rows: PackedRows, range: Range<Int>, alongside: [NamedValue] = [],
    totals: [NamedValue] = [], order: RowOrder
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
    self.totals = totals
    self.order = order
  }

  /// Whether, in a snapshot that was read, `rows` are only a part, and others follow.
  package var isPart = false
  package var isComplete: Bool { range.upperBound == rows.count && !isPart }

  /// The snapshot as a message. It is encoded once for each shape, when it is first sent whole. Must not be called for
  /// parts.
  package func message(_ shape: Shape, _ write: () -> [UInt8]) -> [UInt8] {
    range == 0..<rows.count ? message.written(shape, write) : write()
  }
}

/// Any thread.
private final class MessageOfSnapshot: Sendable {
  private let messages = Mutex<[Shape: [UInt8]]>([:])

  func written(_ shape: Shape, _ write: () -> [UInt8]) -> [UInt8] {
    if let known = messages.withLock({ $0[shape] }) { return known }
    let message = write()
    messages.withLock { $0[shape] = message }
    return message
  }
}
