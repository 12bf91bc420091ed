import ChangeCapture
import Following
import Ground
import LiveQuery
import RankedCollections
import Store

/// A table that the feed follows, with its definition in one schema.
///
/// Owner: the feed's thread.
final class FeedTable {
  let row: CapturedRow
  /// The number that capture gave it.
  let number: Int
  /// The number of the log's last entry when the whole table had been read; nil if it was not read whole yet.
  var knownSince: UInt64?
  private let connection: DatabaseConnection
  private var lookUp: PreparedStatement?
  private var keyLookUp: PreparedStatement?
  /// A number that changes if values of the same bytes may mean something else.
  let version: Int64

  var name: String { row.table.name }

  /// - Returns: nil if it is not a table.
  init?(_ table: DatabaseSchema.Table, _ connection: DatabaseConnection) {
    guard let row = CapturedRow(table, connection.raw, connection.encoding) else { return nil }
    self.row = row
    self.connection = connection
    version = FeedTable.version(of: table)
    number = connection.capture.follow(row.storage.table, remembering: row.storage.keptFields, keeping: .all)
  }

  /// A hash that is the same in every process.
  private static func version(of table: DatabaseSchema.Table) -> Int64 {
    let text = ([table.storage?.table.definition ?? ""] + table.columnNames).joined(separator: "\u{0}")
    return Int64(bitPattern: Array(text.utf8).withUnsafeBytes { $0.hash(seed: 0) })
  }

  /// Whether the schema still has the same table.
  func isSame(as table: DatabaseSchema.Table?) -> Bool {
    table?.storage == row.storage && table?.columnNames == row.table.columnNames
  }

  /// The key of a row whose values are known.
  func key(_ row: PackedValues, rowid: Int64) -> [SQLValue] {
    guard let columns = self.row.storage.keyColumns else { return [.integer(rowid)] }
    let values = row.values
    return columns.map { values[$0] }
  }

  /// The key of a row, from what capture remembers of it.
  func knownKey(_ row: ChangedRows.Row, of changes: ChangedRows) -> [SQLValue]? {
    var key: [SQLValue] = []
    return changes.forEachKeyValue(of: row, in: self.row.storage) { key.append(sqlValue($1)) } ? key : nil
  }

  private func sqlValue(_ value: PackedValue) -> SQLValue {
    if case .text(let bytes) = value { return .text(connection.encoding.text(of: bytes)) }
    return value.value
  }

  // MARK: - Looking up

  /// The row with a rowid or key in the transaction's state; nil if there is no such row.
  func lookUp(rowid: Int64, key: [SQLValue]?) throws -> (rowid: Int64, row: PackedValues)? {
    guard row.storage.isWithoutRowid else { return try read(&lookUp, [.integer(rowid)]) { ["\(rowidName) IS ?1"] } }
    guard let key else { return nil }
    return try read(&lookUp, key) {
      (row.storage.keyColumns ?? []).enumerated().map {
        "\(quotedIdentifier(row.table.columns[$1].name)) IS ?\($0 + 1)"
      }
    }
  }

  /// The row that has a key now; nil if no row has it.
  func lookUp(key: [SQLValue]) throws -> (rowid: Int64, row: PackedValues)? {
    try read(&keyLookUp, key) {
      // Keys are compared under BINARY, whatever the collations of the columns are.
      (row.table.key?.names ?? []).enumerated().map { index, name in
        "\(quotedIdentifier(name)) IS ?\(index + 1) AND \(quotedIdentifier(name)) COLLATE BINARY IS ?\(index + 1)"
      }
    }
  }

  private func read(
    _ known: inout PreparedStatement?, _ values: [SQLValue], where conditions: () -> [String]
  ) throws -> (rowid: Int64, row: PackedValues)? {
    let statement = try known ?? PreparedStatement(connection.raw, select(where: conditions()))
    known = statement
    defer { statement.reset() }
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    guard try statement.step() else { return nil }
    var packed = PackedValues()
    for index in row.table.columns.indices { packed.append(statement.value(index + 1)) }
    return (statement.integer(0), packed)
  }

  private func select(where conditions: [String]) -> String {
    let table = row.table
    let rowid = row.storage.isWithoutRowid ? "0" : rowidName
    let names = table.columns.map { column in
      table.unreadable.contains { $0.column == column.name } ? "NULL" : quotedIdentifier(column.name)
    }
    let columns = ([rowid] + names).joined(separator: ", ")
    return "SELECT \(columns) FROM main.\(quotedIdentifier(table.name)) WHERE \(conditions.joined(separator: " AND "))"
  }

  private var rowidName: String {
    if case .rowid(let alias)? = row.table.key { return alias }
    return TableKey.rowidNames.first { !row.table.hasColumn($0) } ?? TableKey.rowidNames[0]
  }

  /// Drops the virtual table, and all statements that use it.
  func close() {
    (lookUp, keyLookUp) = (nil, nil)
    row.drop()
  }
}
