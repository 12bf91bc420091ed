import CSQLite
package import ChangeCapture
package import Ground
package import LiveQuery
import RankedCollections

/// A virtual table on a follower's connection that shows the rows of one table that a tick has found changed.
///
/// Capture has the records of these rows, so they need not be looked up: the SELECT of a query over this table alone,
/// with its WHERE, is evaluated over the virtual table. The virtual table has the affinities and collations of the
/// table, so that each expression has the same meaning.
///
/// Owner: the follower's thread. Mutable state: the values of the rows that were loaded last. To be dropped or released
/// before the connection is closed.
package final class CapturedRows {
  /// The name of a table's virtual table in statements, with its schema.
  package static func reference(to table: String) -> String { "temp.\(quotedIdentifier(name(of: table)))" }

  /// The hidden column with a row's sign: 1 for a present row, -1 for a former one.
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
  /// The changes that were taken; nil if the tick has no changes yet.
  @exclusivity(unchecked) private var changes: ChangedRows?
  /// Whether all of these rows are known. Nil until they have been decoded.
  @exclusivity(unchecked) private var isKnown: Bool?
  /// The number of keys in the changes. It is the number of different keys, unless a key is there twice.
  @exclusivity(unchecked) private var keyCount = 0
  /// For each key, the index of the row that has it now, or -1. Made when it is first needed.
  @exclusivity(unchecked) private var rowOfKey: (keys: IdentityNumbers, rows: [Int32])?
  /// The indexes of the rows that the virtual table shows, if it does not show all of them.
  @exclusivity(unchecked) private var chosen: [Int32] = []

  /// - Returns: nil if the table's records do not have all of its values, or if SQLite refuses the declaration.
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

  /// Declares the columns with their affinities and collations; nil if SQLite does not report these.
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
      // If the collation belongs to an application and is missing here, an expression with it does not compile over the
      // table either.
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

  /// Takes the changes of a tick, which results are brought up to date from.
  package func take(_ changes: ChangedRows) {
    if self.changes === changes { return }
    (self.changes, isKnown, rowOfKey) = (changes, nil, nil)
  }

  /// Decodes the rows that were taken, unless they are decoded already.
  ///
  /// - Returns: false if a row is unknown, so that all must be looked up.
  /// - Complexity: O(rows × columns).
  package func load() -> Bool {
    if let isKnown { return isKnown }
    let known = changes.map { identifiesRows($0) && decode($0) } ?? false
    isKnown = known
    return known
  }

  /// Whether no two rows have the same key now.
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

  /// The index of the row that has a key now, or -1; nil if the key is not in the changes.
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

  /// Whether a row has a key now; nil if the key is not in the changes.
  package func isThere(_ key: Bytes) -> Bool? { row(ofKey: key).map { $0 >= 0 } }

  /// Shows the changed rows of a tick as they were, with the sign -1, and as they are, until `hide`. Rows without a
  /// change in these columns are left out.
  ///
  /// - Returns: false, and nothing is shown, if a row's former or present values are unknown.
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

  /// Makes the virtual table empty.
  package func hide() { sqlite_captured_set(table, nil, nil, nil, nil, 0) }

  /// Called at the end of the tick, because records do not outlive it.
  package func forgetRows() {
    (changes, isKnown, rowOfKey) = (nil, nil, nil)
    signed.removeAll()
    if valueCapacity > CapturedRows.mostKept { allocate(CapturedRows.mostKept) }
  }

  /// The number of values whose memory is kept for later ticks.
  private static let mostKept = 16 << 10

  private func reserve(_ count: Int) { if count > valueCapacity { allocate(max(count, valueCapacity * 2)) } }

  private func allocate(_ count: Int) {
    values.deallocate()
    valueCapacity = count
    values = .allocate(capacity: count)
  }

  /// Calls `body` while the virtual table shows the present rows of the units.
  ///
  /// - Parameter units: keys of rows that were loaded.
  /// - Returns: nil, without calling `body`, if a unit is not among the loaded keys.
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
