/// Which rows of a table differ between two states, with their former and present values. Lists evaluate these rows,
/// the feed writes them, and the publisher packs them.
///
/// It does not change once it is in a tick. Its records are in the tick's arena.
package final class ChangedRows {
  package enum Kind: Sendable { case insert, delete, update }

  package struct Row {
    package let kind: Kind
    /// The rowid; 0 in tables without rowid.
    package let rowid: Int64
    /// Where the key's fields are in `bytes`; empty if the table has a rowid.
    package let key: Range<Int>
    /// Where the former values of the remembered fields are; empty for an insert.
    package let old: Range<Int>
    /// Where their new values are; empty for a delete.
    package let new: Range<Int>
    /// Where the present record is in `records`; empty if it is unknown or not wanted, and for a delete.
    package let record: Range<Int>
    /// Where the former record is in `records`; empty if it is unknown or not wanted, and for an insert.
    package let former: Range<Int>
    /// The bits of columns that may differ (`RecordLayout.columnBits`); -1 if all may differ.
    package fileprivate(set) var columns: Int64
  }

  /// Identifies a row of a table: the rowid, or the packed fields of the key.
  package struct Identity: Hashable, Sendable {
    package let rowid: Int64
    let key: [UInt8]
  }

  @exclusivity(unchecked) package internal(set) var rows: [Row] = []
  /// Packed fields of all rows; see `withFields`.
  @exclusivity(unchecked) package internal(set) var bytes: [UInt8] = []
  /// The record fields that `Row.old` and `Row.new` hold, ascending.
  @exclusivity(unchecked) package internal(set) var fields: [Int] = []
  /// Rows that are not known changed: the table is not read whole yet, or its former state is gone.
  @exclusivity(unchecked) package internal(set) var isUnknown = false
  /// The present records of inserted and changed rows, and former records if they are wanted. They are valid until the
  /// next tick. Nil if no records are wanted.
  @exclusivity(unchecked) package internal(set) var records: RecordArena?
  /// Whether `records` has former records as well.
  @exclusivity(unchecked) package internal(set) var keepsFormerRecords = false

  /// - Parameters:
  ///   - records: the arena for the records of the rows; nil if they are not wanted.
  ///   - keepsFormerRecords: whether former records are wanted too.
  init(_ records: RecordArena? = nil, keepsFormerRecords: Bool = false) {
    self.records = records
    self.keepsFormerRecords = keepsFormerRecords
  }

  package var isEmpty: Bool { rows.isEmpty && !isUnknown }

  /// The approximate memory, without records.
  var byteCount: Int { rows.count * MemoryLayout<Row>.stride + bytes.count }

  /// Stands for a table in which any row may have changed.
  static var unknown: ChangedRows {
    let delta = ChangedRows()
    delta.isUnknown = true
    return delta
  }

  /// Calls `body` with the values in one of a row's ranges.
  package func withFields<Result>(_ range: Range<Int>, _ body: (StoredFields) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { try body(StoredFields(UnsafeRawBufferPointer(rebasing: $0[range]))) }
  }

  /// Calls `body` with the values that identify a row, numbered from 0: its rowid, or the fields of its key.
  package func forEachKeyField(of row: Row, _ body: (Int, StoredValue) -> Void) {
    if row.key.isEmpty { return body(0, .integer(row.rowid)) }
    withFields(row.key) { for (place, field) in $0.enumerated() { body(place, field) } }
  }

  package func identity(of row: Row) -> Identity {
    Identity(rowid: row.rowid, key: row.key.isEmpty ? [] : Array(bytes[row.key]))
  }

  /// A copy in which all columns count as changed.
  package var ofAllColumns: ChangedRows {
    let other = ChangedRows(records, keepsFormerRecords: keepsFormerRecords)
    (other.rows, other.bytes, other.fields, other.isUnknown) = (rows, bytes, fields, isUnknown)
    for index in rows.indices { other.rows[index].columns = -1 }
    return other
  }

  func removeAll() {
    rows.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    isUnknown = false
  }

  func keep(_ source: UnsafeRawPointer?, _ count: Int) -> Range<Int> {
    let start = bytes.count
    if let source, count > 0 { bytes.append(contentsOf: UnsafeRawBufferPointer(start: source, count: count)) }
    return start..<bytes.count
  }
}

/// How a changed row differs, and where its former and present records are.
struct RowImages {
  /// The bits of columns in which the row may differ; -1 if all may differ.
  var columns: Int64 = -1
  /// Where the present and the former record are in the tick's arena; empty if unknown or not wanted.
  var record = 0..<0
  var former = 0..<0
}
