import CSQLite

/// The virtual tables of a connection that show groups of aggregates.
///
/// Creating or dropping a table makes SQLite compile all of the connection's statements again. So a table that is not
/// used any more is kept for the next aggregate with the same columns.
///
/// Owner: the thread of the connection.
package final class GroupTables {
  private let connection: OpaquePointer
  private var count = 0
  private var unused: [String: [GroupTable]] = [:]

  package init(_ connection: OpaquePointer) { self.connection = connection }

  /// - Parameter columns: the declarations of the columns.
  /// - Returns: nil if SQLite does not create the table.
  func take(_ columns: String, count columnCount: Int) -> GroupTable? {
    if let table = unused[columns]?.popLast() { return table }
    count += 1
    let name = "\(ReservedNames.prefix)groups_\(count)"
    let declaration = "CREATE TABLE t(\(columns), \(CapturedRows.sign) INTEGER HIDDEN)"
    guard
      let table = sqlite_captured_create(connection, name, declaration, Int32(columnCount), SQLITE_UTF8)
    else { return nil }
    return GroupTable(columns: columns, name: name, table: table)
  }

  func giveBack(_ table: GroupTable) { unused[table.columns, default: []].append(table) }
}

/// A virtual table of groups, with a column for each value of a group and for each call.
final class GroupTable {
  fileprivate let columns: String
  private let name: String
  private let table: OpaquePointer
  @exclusivity(unchecked) private var rows = ShownRows()

  fileprivate init(columns: String, name: String, table: OpaquePointer) {
    self.columns = columns
    self.name = name
    self.table = table
  }

  /// The name of the table in statements.
  var reference: String { "temp.\(name)" }

  func removeAll() { rows.removeAll() }

  func append(_ values: [KeptValue], _ calls: [KeptValue]) {
    rows.beginRow()
    for value in values { rows.append(value) }
    for value in calls { rows.append(value) }
  }

  /// Calls `body` while the table shows the rows that were appended.
  func show<Result>(_ body: () throws -> Result) rethrows -> Result {
    defer { sqlite_captured_set(table, nil, nil, nil, nil, 0) }
    return try rows.withValues { values, rowids, count in
      sqlite_captured_set(table, values, rowids, nil, nil, Int64(count))
      return try body()
    }
  }
}
