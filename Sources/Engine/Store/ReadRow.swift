import Ground
import LiveQuery
import RankedCollections

/// Reads the parts of a statement's current row. Its buffers are reused for every row.
///
/// It is a class, because a structure with so many members would be copied at every call. As in `Node`, accesses are
/// not checked for overlaps at run time.
///
/// Owner: the thread that runs the statement.
final class ReadRow {
  /// A column of the statement, and how its values sort.
  private typealias Field = (column: Int, order: FieldOrder)

  private let encoding: TextEncoding
  private let seed: UInt64
  private let section: Field?
  private let sectionName: Int
  private let indexTitle: Int?
  /// The sort fields of an entry, which precede its identity.
  private let order: [Field]
  private let identityFields: [Field]
  private let unitFields: [Field]
  /// The range of the result's columns in a row of the statement.
  private let contents: Range<Int>
  /// The values of the current row, each read once. They are borrowed from SQLite, and used only within `read`.
  @exclusivity(unchecked) private var values: [PackedValue]

  @exclusivity(unchecked) private(set) var sectionKey: [UInt8] = []
  @exclusivity(unchecked) private var entry = RankedEntry()
  /// The row's unit, if the query's key is not the unit.
  @exclusivity(unchecked) private(set) var unit: [UInt8] = []
  @exclusivity(unchecked) private(set) var stamp = RowStamp(0)
  @exclusivity(unchecked) private var label = PackedValues()

  /// The label of the one section of a query without sections.
  static let onlySection: PackedValues = {
    var label = PackedValues()
    label.append(SQLValue.text(""))
    label.append(SQLValue.text(""))
    return label
  }()

  static var keyOfOnlySection: Bytes { Bytes(start: nil, count: 0) }

  /// - Parameter seed: the seed of the stamps.
  init(_ plan: ResultPlan, seed: UInt64, encoding: TextEncoding) {
    self.encoding = encoding
    self.seed = seed
    let first = plan.firstColumn
    contents = first..<first + plan.columns.count
    section = plan.section.map { (0, $0) }
    sectionName = plan.sectionName
    indexTitle = plan.indexTitle
    var next = plan.firstSort
    var order: [Field] = []
    for sort in plan.sorts {
      order.append((sort.column.map { first + $0 } ?? next, sort.order))
      if sort.column == nil { next += 1 }
    }
    self.order = order + plan.keyTies.map { (first + $0.column, $0.order) }
    identityFields = plan.keyColumns.indices.map { (first + $0, .identity) }
    unitFields = zip(next..<first, plan.unit?.orders ?? []).map { ($0, $1) }
    values = Array(repeating: .null, count: contents.upperBound)
  }

  var identity: [UInt8] { entry.bytes.withUnsafeBytes { Array(RankedEntry.identity(of: $0)) } }

  /// The number of columns of the result.
  var columnCount: Int { contents.count }

  /// Appends the result's columns of the row that was read last, which must still be the statement's current row.
  func appendContents(to packed: inout PackedValues) { for column in contents { packed.append(values[column]) } }

  /// Reads the parts that an editor needs.
  func readWhole(_ statement: PreparedStatement) {
    read(statement)
    guard section != nil else { return }
    label.removeAll()
    appendLabel(to: &label, statement)
  }

  /// Calls `body` with the parts that `readWhole` has read.
  func withParts<Result>(
    _ body: (_ section: Bytes, _ label: Bytes, _ entry: Bytes) throws -> Result
  ) rethrows -> Result {
    try sectionKey.withUnsafeBytes { section in
      try (self.section == nil ? ReadRow.onlySection : label).bytes.withUnsafeBytes { label in
        try entry.bytes.withUnsafeBytes { try body(section, label, $0) }
      }
    }
  }

  func append(to builder: inout SectionedTreeBuilder, _ statement: PreparedStatement) {
    sectionKey.withUnsafeBytes { section in
      entry.bytes.withUnsafeBytes { entry in
        builder.append(section: section, entry: entry, stamp: stamp) { label(statement) }
      }
    }
  }

  func read(_ statement: PreparedStatement) {
    // In UTF-16 databases keys are read first, because reading text as UTF-8 converts SQLite's own copy of it.
    let isShared = encoding == .utf8
    if isShared { readValues(statement) }
    if isShared {
      values.withUnsafeBufferPointer { values in
        appendKeys { KeyEncoder.append(values[$0.column], $0.order, to: &$1) }
      }
    } else {
      appendKeys { ReadRow.append($0, of: statement, encoding, to: &$1) }
      readValues(statement)
    }
    var hash = seed
    for column in contents { hash = values[column].hash(seed: hash) }
    stamp = RowStamp(hash)
  }

  /// - Parameter append: appends a field's value to a key.
  @inline(__always)
  private func appendKeys(_ append: (Field, inout [UInt8]) -> Void) {
    sectionKey.removeAll(keepingCapacity: true)
    if let section { append(section, &sectionKey) }
    entry.removeAll()
    for field in order { entry.append { append(field, &$0) } }
    entry.startIdentity()
    for field in identityFields { entry.append { append(field, &$0) } }
    entry.finish()
    unit.removeAll(keepingCapacity: true)
    for field in unitFields { append(field, &unit) }
  }

  private func readValues(_ statement: PreparedStatement) {
    if encoding == .utf8 {
      for column in values.indices {
        values[column] = PreparedStatement.valueOfUTF8(statement.handle, Int32(truncatingIfNeeded: column))
      }
    } else {
      for column in values.indices { values[column] = statement.value(column) }
    }
  }

  /// Calls `body` with the identity of the statement's current row, without reading its other parts.
  func withIdentity<Result>(
    of statement: PreparedStatement, _ body: (Bytes) throws -> Result
  ) rethrows -> Result {
    let encoding = encoding
    entry.removeAll()
    for field in identityFields { entry.append { ReadRow.append(field, of: statement, encoding, to: &$0) } }
    return try entry.bytes.withUnsafeBytes(body)
  }

  /// The label of the row's section, which is the name and index title according to this row.
  func label(_ statement: PreparedStatement) -> [UInt8] {
    if section == nil { return ReadRow.onlySection.bytes }
    var label = PackedValues()
    appendLabel(to: &label, statement)
    return label.bytes
  }

  private func appendLabel(to label: inout PackedValues, _ statement: PreparedStatement) {
    let name = statement.value(sectionName)
    label.append(name)
    if let indexTitle {
      label.append(.text(statement.value(indexTitle).indexTitleText))
    } else {
      label.appendIndexTitle(of: name)
    }
  }

  @inline(__always)
  private static func append(
    _ field: Field, of statement: PreparedStatement, _ encoding: TextEncoding, to bytes: inout [UInt8]
  ) {
    PreparedStatement.appendKey(statement.handle, Int32(field.column), field.order, encoding, to: &bytes)
  }
}
