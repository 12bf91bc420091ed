package import ChangeCapture
package import Ground
package import LiveQuery
package import RankedCollections

/// What changed in one table since the last tick, row by row.
///
/// A class, for several ask for it at every tick. It does not change once it is made.
package final class TableChanges {
  package struct RowChange {
    /// Columns that may have changed; all when the row came or went.
    package var columns: ColumnMask
    /// Columns that had another value before: none when the row only came.
    package var oldColumns: ColumnMask

    fileprivate static let none = RowChange(columns: .none, oldColumns: .none)

    fileprivate mutating func add(columns more: ColumnMask, oldColumns moreOld: ColumnMask) {
      columns = ColumnMask(rawValue: columns.rawValue | more.rawValue)
      oldColumns = ColumnMask(rawValue: oldColumns.rawValue | moreOld.rawValue)
    }
  }

  /// The encoded keys of the rows that changed.
  @exclusivity(unchecked) package private(set) var keys: IdentityNumbers
  /// By the key's number.
  @exclusivity(unchecked) package private(set) var rows: [RowChange] = []
  /// By the key's number, which row has the key now; -1: none has.
  @exclusivity(unchecked) private var present: [Int32] = []
  /// Whether a key holds a NULL: several rows may have it.
  private var hasNullKey = false
  /// Rows as they were, of those that were there.
  @exclusivity(unchecked) package private(set) var old: [FormerRow] = []
  /// The number that capture gave to the table.
  package let number: Int
  /// Which of the tick's steps they belong to: it makes one to each state that it goes through, and a last one.
  package let step: Int
  private let delta: TableDelta
  /// Nil when it is not known which rows changed.
  private let storage: TableStorage!

  /// A row that is gone, or was another one.
  package struct FormerRow {
    fileprivate let row: TableDelta.Row
    /// Columns in which it was another one; all when it is gone.
    package var columns: ColumnMask { ColumnMask(rawValue: row.columns) }
  }

  /// False when a row's key is not known: then nothing is known about the changes.
  package private(set) var isKnown = true
  /// Whether it is known row by row what changed.
  package var tellsRows: Bool { storage != nil }

  /// - Parameters:
  ///   - number: that capture gave to the table.
  ///   - step: which of the tick's steps they belong to.
  ///   - storage: how its rows are stored; nil when that is not known at present.
  package init(_ delta: TableDelta, number: Int, step: Int = 0, storage: TableStorage?) {
    self.delta = delta
    self.number = number
    self.step = step
    guard let storage, !delta.isUnknown else {
      self.storage = nil
      keys = IdentityNumbers()
      return
    }
    self.storage = storage
    keys = IdentityNumbers(reserving: delta.rows.count)
    rows.reserveCapacity(delta.rows.count)
    guard storage.keyFields == nil else {
      for (index, row) in delta.rows.enumerated() { note(row, Int32(truncatingIfNeeded: index)) }
      return
    }
    present.reserveCapacity(delta.rows.count)
    var key: [UInt8] = []
    for (index, row) in delta.rows.enumerated() {
      key.removeAll(keepingCapacity: true)
      KeyEncoder.append(PackedValue.integer(row.rowid), .identity, to: &key)
      let columns = ColumnMask(rawValue: row.columns)
      let wasThere = row.kind != .insert
      note(
        key, columns, wasThere ? columns : .none, wasThere ? row : nil,
        row.kind == .delete ? nil : Int32(truncatingIfNeeded: index))
    }
  }

  private init(ofAllColumns changes: TableChanges) {
    (keys, old, delta, number, step) = (changes.keys, changes.old, changes.delta, changes.number, changes.step)
    (storage, isKnown) = (changes.storage, changes.isKnown)
    (present, hasNullKey) = (changes.present, changes.hasNullKey)
    rows = changes.rows.map { RowChange(columns: .all, oldColumns: $0.oldColumns == .none ? .none : .all) }
  }

  /// A row whose key is not the rowid.
  private func note(_ row: TableDelta.Row, _ index: Int32) {
    let wasThere = row.kind != .insert
    let columns = ColumnMask(rawValue: row.columns)
    let oldColumns = wasThere ? columns : .none
    guard let keyFields = storage.keyFields else { return }
    if storage.table.layout.isWithoutRowid {
      if let key = key(row.key, keyFields) {
        note(key, columns, oldColumns, wasThere ? row : nil, row.kind == .delete ? nil : index)
      }
      return
    }
    // The key's columns are remembered among others; an update may have changed them.
    let places = keyFields.map { delta.fields.firstIndex(of: $0) }
    let before = wasThere ? key(row.old, places) : nil
    let now = row.kind == .delete ? nil : key(row.new, places)
    // A row of another key is another row.
    let changed = before == now ? columns : .all
    if let before { note(before, changed, changed, row, nil) }
    if let now { note(now, changed, .none, nil, index) }
  }

  /// - Parameter now: the row that has the key now; nil: this one does not.
  private func note(
    _ key: [UInt8], _ columns: ColumnMask, _ oldColumns: ColumnMask, _ former: TableDelta.Row?, _ now: Int32?
  ) {
    let (number, isNew) = key.withUnsafeBytes { keys.insert($0) }
    if isNew {
      rows.append(.none)
      present.append(-1)
    }
    if let now { present[number] = now }
    rows[number].add(columns: columns, oldColumns: oldColumns)
    if let former { old.append(FormerRow(row: former)) }
  }

  /// The encoded key out of packed fields, each at a place among them; nil (and nothing is known any more) when a value is
  /// missing.
  private func key(_ range: Range<Int>, _ places: [Int?]) -> [UInt8]? {
    var key: [UInt8] = []
    let isWhole = delta.withFields(range) { fields in
      let values = Array(fields)
      for (index, place) in places.enumerated() {
        guard let place, values.indices.contains(place),
          let column = storage.column(ofField: storage.keyFields![index]),
          let value = storage.value(values[place], column: column)
        else { return false }
        if case .null = value { hasNullKey = true }
        KeyEncoder.append(value, .identity, to: &key)
      }
      return true
    }
    if !isWhole { isKnown = false }
    return isWhole ? key : nil
  }

  package var count: Int { rows.count }

  /// The same, as if all columns had changed.
  package var ofAllColumns: TableChanges { TableChanges(ofAllColumns: self) }

  /// Whether each key is that of one row at most.
  var identifiesRows: Bool { isKnown && !hasNullKey }

  /// The row that has a key now, by the key's number; nil: none has. Its record is nil where it is not known, and lasts as long as the
  /// tick.
  package func presentRow(_ number: Int) -> (rowid: Int64, record: UnsafeRawBufferPointer?)? {
    let index = Int(present[number])
    if index < 0 { return nil }
    let row = delta.rows[index]
    guard let records = delta.records, !row.record.isEmpty else { return (row.rowid, nil) }
    return (row.rowid, records.record(row.record))
  }

  /// Calls `body` with each row that changed in some of the columns, as it was and as it is, its record nil where that is not known.
  ///
  /// - Returns: false as soon as `body` does.
  func forEachSigned(
    in columns: ColumnMask, _ body: (_ rowid: Int64, _ record: UnsafeRawBufferPointer?, _ sign: Int8) -> Bool
  ) -> Bool {
    for row in delta.rows where row.columns == -1 || ColumnMask(rawValue: row.columns).intersects(columns) {
      if row.kind != .insert, !body(row.rowid, record(row.former), -1) { return false }
      if row.kind != .delete, !body(row.rowid, record(row.record), 1) { return false }
    }
    return true
  }

  private func record(_ range: Range<Int>) -> UnsafeRawBufferPointer? {
    range.isEmpty ? nil : delta.records?.record(range)
  }

  /// How many rows the delta has: at most as many changed.
  var rowCount: Int { delta.rows.count }

  /// Calls `body` with the encoded key of a row, by its number.
  package func withKey(_ number: Int, _ body: (Bytes) -> Void) { keys.withIdentity(number, body) }

  /// Calls `body` with the values of a row's key as they were stored, and their places in the key. An encoded key does not tell
  /// them: 3.0 and 3 are one key, and `typeof` distinguishes them.
  ///
  /// - Returns: false when one of them is not known.
  package func forEachKeyValue(of former: FormerRow, _ body: (Int, PackedValue) -> Void) -> Bool {
    guard let columns = storage.keyColumns else {
      body(0, .integer(former.row.rowid))
      return true
    }
    return forEachOldValue(of: former, columns: columns, body)
  }

  /// Whether a row may have changed in these columns, or may have come or gone.
  package func meets(_ columns: ColumnMask) -> Bool {
    !isKnown || rows.contains { $0.columns == .all || $0.columns.intersects(columns) }
  }

  /// Calls `body` with the former values of columns and the places of these in `columns`; text is in the database's own
  /// encoding.
  ///
  /// - Returns: false when one of them is not known.
  package func forEachOldValue(of former: FormerRow, columns: [Int], _ body: (Int, PackedValue) -> Void) -> Bool {
    for (index, column) in columns.enumerated() {
      if column == storage.rowidColumn {
        body(index, .integer(former.row.rowid))
        continue
      }
      guard let field = storage.fields[column] else { return false }
      let isInKey = storage.table.layout.isWithoutRowid && field < storage.table.layout.keyFieldCount
      guard let place = isInKey ? field : delta.fields.firstIndex(of: field) else { return false }
      let isKnown = delta.withFields(isInKey ? former.row.key : former.row.old) { fields in
        guard let stored = fields.dropFirst(place).first(where: { _ in true }),
          let value = storage.value(stored, column: column)
        else { return false }
        body(index, value)
        return true
      }
      if !isKnown { return false }
    }
    return true
  }
}
