/// The layout of a table's records, as far as capture needs to know it.
package struct RecordLayout: Equatable, Sendable {
  /// Whether the table is `WITHOUT ROWID`, so that rows are their own keys.
  package var isWithoutRowid: Bool
  /// The number of fields of the primary key, with which records of `WITHOUT ROWID` tables begin; otherwise 0.
  package var keyFieldCount: Int
  /// Fields whose values are remembered next to the hash, so that they are known after the row is deleted; ascending.
  package var remembered: [Int]
  /// For each field, the bits that stand for it in a mask of changed columns.
  package var columnBits: [Int64]
  /// The bits of columns that are computed from others and not stored. They may change whenever any column does.
  package var computedBits: Int64

  package init(
    isWithoutRowid: Bool = false, keyFieldCount: Int = 0, remembered: [Int] = [], columnBits: [Int64] = [],
    computedBits: Int64 = 0
  ) {
    self.isWithoutRowid = isWithoutRowid
    self.keyFieldCount = keyFieldCount
    self.remembered = remembered
    self.columnBits = columnBits
    self.computedBits = computedBits
  }

  var tree: BTreePage.Tree { isWithoutRowid ? .index : .table }

  /// The end of the fields that are kept: one more than the last of them.
  var keptEnd: Int { max(keyFieldCount, remembered.last.map { $0 + 1 } ?? 0) }
}

/// Kept values of a row, each as its serial type and its body.
package struct StoredFields: Sequence, IteratorProtocol {
  private var cursor: UnsafeRawPointer
  private let end: UnsafeRawPointer

  /// - Parameter bytes: values that `RowPacker` packed; they must outlive the iteration.
  package init(_ bytes: UnsafeRawBufferPointer) {
    // Empty buffers may have no address.
    cursor = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
    end = cursor + bytes.count
  }

  package mutating func next() -> StoredValue? {
    if cursor >= end { return nil }
    let type = readPacked(&cursor)
    defer { cursor += RecordFields.size(of: type) }
    return StoredValue(type: type, body: cursor)
  }
}
