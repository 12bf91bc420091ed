import CSQLite
package import ChangeCapture
package import Ground
package import LiveQuery
import RankedCollections

/// The rows of one table that a tick has found changed, as a virtual table on a follower's connection.
///
/// Capture has their records, so nothing needs to be looked up: queries over this table alone are evaluated over the
/// virtual table, by their own SELECT with its WHERE. It is declared as the table is, with affinities and collations,
/// so that each expression means what it means on the table.
///
/// Owner: the follower's thread. Mutable state: the values of the rows that were loaded last. To be dropped or released
/// before the connection is closed.
package final class CapturedRows {
  /// The name of the virtual table, with its schema, in statements of queries over a table.
  package static func reference(to table: String) -> String { "temp.\(quotedIdentifier(name(of: table)))" }

  /// The hidden column that has a row's sign: 1 where it is there, -1 as it was.
  package static let sign = ReservedNames.prefix + "sign"

  static func name(of table: String) -> String { ReservedNames.prefix + "captured_" + table }

  package let storage: TableStorage
  private let decoder: RecordDecoder
  private let connection: OpaquePointer
  private let encoding: TextEncoding
  private let table: OpaquePointer
  @exclusivity(unchecked) private var values: UnsafeMutablePointer<sqlite_row_value>
  @exclusivity(unchecked) private var valueCapacity: Int
  @exclusivity(unchecked) private var rowids: [Int64] = []
  /// The changes whose rows are there now; nil: none have been taken in this tick.
  @exclusivity(unchecked) private var changes: ChangedRows?
  /// Whether all of these rows are known, once they have been decoded.
  @exclusivity(unchecked) private var isKnown: Bool?
  /// The number of keys that were reported: the number of different keys, unless one was reported twice.
  @exclusivity(unchecked) private var keyCount = 0
  /// By key, the row that has it now, or -1; made when it is first needed.
  @exclusivity(unchecked) private var rowOfKey: (keys: IdentityNumbers, rows: [Int32])?
  /// The rows that the virtual table shows, where these are not all.
  @exclusivity(unchecked) private var chosen: [Int32] = []

  /// - Returns: nil when the table's records do not tell all of its values, or SQLite refuses the declaration.
  package init?(
    _ storage: TableStorage, _ columns: [DatabaseTable.Column], _ connection: OpaquePointer, _ encoding: TextEncoding
  ) {
    guard storage.decoder.columnCount == columns.count,
      let declaration = CapturedRows.declaration(of: columns, in: storage.table.name, connection),
      let table = sqlite_captured_create(
        connection, CapturedRows.name(of: storage.table.name), declaration, Int32(columns.count),
        Int32(encoding.code))
    else { return nil }
    self.storage = storage
    decoder = storage.decoder
    self.connection = connection
    self.encoding = encoding
    self.table = table
    valueCapacity = columns.count
    values = .allocate(capacity: valueCapacity)
  }

  /// The rows that `showSigned` shows.
  private let signed = SignedBuffer()

  deinit { values.deallocate() }

  /// Removes the virtual table from the connection.
  package func drop() { _ = sqlite_captured_drop(connection, CapturedRows.name(of: storage.table.name)) }

  /// The columns with the affinities and collations that they have in the table; nil when SQLite does not say.
  static func declaration(
    of columns: [DatabaseTable.Column], in table: String, _ connection: OpaquePointer
  ) -> String? {
    var isStrict: Bool?
    var list: [String] = []
    for column in columns {
      var collation: UnsafePointer<CChar>?
      guard
        sqlite3_table_column_metadata(connection, "main", table, column.name, nil, &collation, nil, nil, nil)
          == SQLITE_OK, let collation
      else { return nil }
      var affinity = Affinity(declaredType: column.type)
      if affinity == nil {
        isStrict = isStrict ?? self.isStrict(table, connection)
        affinity = isStrict == true ? .blob : .numeric
      }
      // An expression with an application's own collation does not compile over the table either.
      let name = quotedIdentifier(String(cString: collation))
      let order = hasCollation(name, connection) ? " COLLATE \(name)" : ""
      list.append("\(quotedIdentifier(column.name)) \(affinity!.rawValue)\(order)")
    }
    return "CREATE TABLE t(\(list.joined(separator: ", ")), \(sign) INTEGER HIDDEN)"
  }

  /// Whether the connection has a collation. (`PRAGMA collation_list` also lists those that a schema names.)
  private static func hasCollation(_ name: String, _ connection: OpaquePointer) -> Bool {
    if FieldOrder.Collation(rawValue: name.dropFirst().dropLast().uppercased()) != nil { return true }
    return (try? PreparedStatement(connection, "SELECT 'a' < 'b' COLLATE \(name)", isPersistent: false)) != nil
  }

  private static func isStrict(_ table: String, _ connection: OpaquePointer) -> Bool? {
    guard
      let statement = try? PreparedStatement(
        connection, "SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ?1", isPersistent: false)
    else { return nil }
    statement.bind(.text(table), at: 1)
    return (try? statement.step()) == true ? statement.integer(0) != 0 : nil
  }

  // MARK: - Rows

  /// Takes a tick's changes, from which results are to be brought up to date.
  package func take(_ changes: ChangedRows) {
    if self.changes === changes { return }
    (self.changes, isKnown, rowOfKey) = (changes, nil, nil)
  }

  /// Decodes the rows that were taken, if that was not done yet.
  ///
  /// - Returns: false when a row is not known: they must be looked up.
  /// - Complexity: O(rows × columns).
  package func load() -> Bool {
    if let isKnown { return isKnown }
    let known = changes.map { identifiesRows($0) && decode($0) } ?? false
    isKnown = known
    return known
  }

  /// Whether each key is that of one row at most.
  private func identifiesRows(_ changes: ChangedRows) -> Bool {
    keyCount = changes.rows.count
    if changes.isUnknown { return false }
    if storage.keyColumns == nil { return true }
    keyCount = 0
    return changes.forEachKey(in: storage) { _, change in
      keyCount += 1
      return !change.hasNull
    }
  }

  private func decode(_ changes: ChangedRows) -> Bool {
    rowids.removeAll(keepingCapacity: true)
    let columns = decoder.columnCount
    reserve(changes.rows.count * columns)
    let isUTF16 = encoding != .utf8
    for row in changes.rows where row.kind != .delete {
      guard let record = changes.record(row.record),
        decoder.decode(record, rowid: row.rowid, isUTF16: isUTF16, into: values + rowids.count * columns)
      else { return false }
      rowids.append(row.rowid)
    }
    return true
  }

  /// The row that has a key now, or -1; nil: the key is not among the changed ones.
  private func row(ofKey key: Bytes) -> Int32? {
    if rowOfKey == nil { rowOfKey = changes.map(numberedKeys) }
    guard let rowOfKey, let number = rowOfKey.keys.number(of: key) else { return nil }
    return rowOfKey.rows[number]
  }

  private func numberedKeys(_ changes: ChangedRows) -> (keys: IdentityNumbers, rows: [Int32]) {
    var keys = IdentityNumbers(reserving: keyCount)
    var rows: [Int32] = []
    var next: Int32 = 0
    _ = changes.forEachKey(in: storage) { key, change in
      let (number, isNew) = key.withUnsafeBytes { keys.insert($0) }
      if isNew { rows.append(-1) }
      if change.isThere {
        rows[number] = next
        next += 1
      }
      return true
    }
    return (keys, rows)
  }

  /// Whether a row has a key now; nil: it is not among the keys that changed.
  package func isThere(_ key: Bytes) -> Bool? { row(ofKey: key).map { $0 >= 0 } }

  /// Shows the changed rows of a tick as they were, with the sign -1, and as they are, until `hide`. Rows that changed
  /// in none of the columns are left out.
  ///
  /// - Returns: false, showing nothing, when a row is not known as it was or as it is.
  package func showSigned(_ changes: ChangedRows, in columns: ColumnMask) -> Bool {
    if signed.changes !== changes || signed.columns != columns {
      signed.changes = changes
      signed.columns = columns
      signed.isKnown = signed.load(changes, in: columns, decoder, isUTF16: encoding != .utf8)
    }
    if !signed.isKnown { return false }
    sqlite_captured_set(table, signed.values, signed.rowids, nil, signed.signs, Int64(signed.count))
    return true
  }

  /// Shows nothing any more.
  package func hide() { sqlite_captured_set(table, nil, nil, nil, nil, 0) }

  /// The tick is over: records do not last longer.
  package func forgetRows() {
    (changes, isKnown, rowOfKey) = (nil, nil, nil)
    signed.removeAll()
    if valueCapacity > CapturedRows.mostKept { allocate(CapturedRows.mostKept) }
  }

  /// Values that room is kept for.
  private static let mostKept = 16 << 10

  private func reserve(_ count: Int) { if count > valueCapacity { allocate(max(count, valueCapacity * 2)) } }

  private func allocate(_ count: Int) {
    values.deallocate()
    valueCapacity = count
    values = .allocate(capacity: count)
  }

  /// Calls `body` while the virtual table shows the rows that have the units now.
  ///
  /// - Parameter units: keys of rows that were loaded.
  /// - Returns: nil, without calling it, when a unit is not one of them.
  package func withRows<Result>(of units: ConcernedUnits, _ body: () throws -> Result) rethrows -> Result? {
    guard isKnown == true else { return nil }
    let isAll = units.count == keyCount
    chosen.removeAll(keepingCapacity: true)
    var areKnown = true
    if !isAll {
      units.forEach { unit, _ in
        guard let row = row(ofKey: unit) else { return areKnown = false }
        if row >= 0 { chosen.append(row) }
      }
    }
    if !areKnown { return nil }
    defer { sqlite_captured_set(table, nil, nil, nil, nil, 0) }
    return try rowids.withUnsafeBufferPointer { rowids in
      try chosen.withUnsafeBufferPointer { chosen in
        sqlite_captured_set(
          table, values, rowids.baseAddress, isAll ? nil : chosen.baseAddress, nil,
          Int64(isAll ? rowids.count : chosen.count))
        return try body()
      }
    }
  }
}
