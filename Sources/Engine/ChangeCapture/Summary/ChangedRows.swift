/// Which rows of a table differ between two states, as they were and as they are: what lists evaluate, the feed writes
/// and the publisher packs.
///
/// It does not change once a tick has it. Its records are its tick's.
package final class ChangedRows {
  package enum Kind: Sendable { case insert, delete, update }

  package struct Row {
    package let kind: Kind
    /// 0 in tables without rowid.
    package let rowid: Int64
    /// The fields of the key, in `fields`; empty where there is a rowid.
    package let key: Range<Int>
    /// The former values of the remembered fields: empty for an insert.
    package let old: Range<Int>
    /// The new values: empty for a delete.
    package let new: Range<Int>
    /// Its present record, in `records`: empty where it is not known or not wanted, and for a delete.
    package let record: Range<Int>
    /// Its former record, likewise; empty for an insert.
    package let former: Range<Int>
    /// The bits of columns that may differ (`RecordLayout.columnBits`); -1 for all.
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
  /// Something changed that is not known row by row: the table is not read whole yet, or its former state is gone.
  @exclusivity(unchecked) package internal(set) var isUnknown = false
  /// The records of rows that came, changed or, if they are wanted, went, until the next tick; nil: they are not
  /// wanted.
  @exclusivity(unchecked) package internal(set) var records: RecordArena?
  /// Whether `records` has former records as well.
  @exclusivity(unchecked) package internal(set) var keepsFormerRecords = false

  /// - Parameters:
  ///   - records: where those of the rows are kept; nil: they are not wanted.
  ///   - keepsFormerRecords: whether former records are wanted, too.
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

  /// Calls `body` with the values of a range of a row's.
  package func withFields<Result>(_ range: Range<Int>, _ body: (StoredFields) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { try body(StoredFields(UnsafeRawBufferPointer(rebasing: $0[range]))) }
  }

  /// Calls `body` with what tells a row from others: its rowid, or the fields of its key, and their places.
  package func forEachKeyField(of row: Row, _ body: (Int, StoredValue) -> Void) {
    if row.key.isEmpty { return body(0, .integer(row.rowid)) }
    withFields(row.key) { for (place, field) in $0.enumerated() { body(place, field) } }
  }

  package func identity(of row: Row) -> Identity {
    Identity(rowid: row.rowid, key: row.key.isEmpty ? [] : Array(bytes[row.key]))
  }

  /// The same, as if all columns had changed.
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

/// The former and the new image of a changed row.
struct RowImages {
  /// The bits of columns in which it may differ; -1: all.
  var columns: Int64 = -1
  /// Where its present record is among the tick's, and its former one; empty: it is not known or not wanted.
  var record = 0..<0
  var former = 0..<0
}
