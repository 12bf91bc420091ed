import LiveQuery
import RankedCollections

/// The row that a statement stands on, taken apart; its buffers are used again for every row.
struct ReadRow {
  var section: [UInt8] = []
  var label = PackedValues()
  var entry = RankedEntry()
  /// The unit, when the query's key is another.
  var unit: [UInt8] = []
  var stamp = RowStamp(0)

  /// The label of the one section of a query without sections.
  static let onlySection: PackedValues = {
    var label = PackedValues()
    label.append(SQLValue.text(""))
    label.append(SQLValue.text(""))
    return label
  }()

  var identity: [UInt8] { entry.bytes.withUnsafeBytes { Array(RankedEntry.identity(of: $0)) } }

  func withParts<Result>(_ body: (_ section: Bytes, _ label: Bytes, _ entry: Bytes) throws -> Result) rethrows -> Result
  {
    try section.withUnsafeBytes { section in
      try label.bytes.withUnsafeBytes { label in
        try entry.bytes.withUnsafeBytes { try body(section, label, $0) }
      }
    }
  }

  mutating func read(_ statement: PreparedStatement, _ query: CompiledQuery, _ seed: UInt64, _ encoding: TextEncoding) {
    let first = query.firstColumn
    var column = 0
    readSection(statement, query, encoding, &column)
    entry.removeAll()
    for order in query.sorts {
      entry.append { statement.appendKey(column, order, encoding, to: &$0) }
      column += 1
    }
    for (column, order) in query.keyTies {
      entry.append { statement.appendKey(first + column, order, encoding, to: &$0) }
    }
    entry.startIdentity()
    for index in query.keyColumns.indices {
      entry.append { statement.appendKey(first + index, .identity, encoding, to: &$0) }
    }
    entry.finish()
    unit.removeAll(keepingCapacity: true)
    for order in query.unit?.orders ?? [] where column < first {
      statement.appendKey(column, order, encoding, to: &unit)
      column += 1
    }
    var hash = seed
    for index in query.columns.indices { hash = statement.value(first + index).hash(seed: hash) }
    stamp = RowStamp(hash)
  }

  private mutating func readSection(
    _ statement: PreparedStatement, _ query: CompiledQuery, _ encoding: TextEncoding, _ column: inout Int
  ) {
    section.removeAll(keepingCapacity: true)
    label.removeAll()
    guard let order = query.section else {
      label = ReadRow.onlySection
      return
    }
    statement.appendKey(column, order, encoding, to: &section)
    let name = statement.value(column)
    label.append(name)
    column += 1
    if query.hasIndexTitle {
      label.append(.text(statement.value(column).indexTitleText))
      column += 1
    } else {
      label.appendIndexTitle(of: name)
    }
  }
}

extension PreparedStatement {
  @inline(__always)
  fileprivate func appendKey(_ column: Int, _ order: FieldOrder, _ encoding: TextEncoding, to bytes: inout [UInt8]) {
    PreparedStatement.appendKey(handle, Int32(column), order, encoding, to: &bytes)
  }
}
