package import ChangeCapture
import Ground
package import LiveQuery
import RankedCollections
package import Store

// Maps changed rows to the units of the result that they can concern.
//
// A row of the first table is its own unit. For any other table of `from` two statements find the units: FROM up to
// that table with the row as it is now, and the same with the row's former values in place of the table. The rest of
// FROM must be left out, because a later inner join may exclude exactly the rows that were deleted. This is enough:
// consider the first table in FROM at which a unit's rows differ between two states. The tables before it are
// unchanged, so the row that was inserted or deleted there joins the same rows in the present state as before. So it
// does not matter how many tables changed in one transaction.
//
// The values bound for a former row come from its record, and not from its encoded key: 3.0 and 3 have the same key,
// but `typeof` distinguishes them. In UTF-16 databases SQLite converts a bound blob to text in another way than a
// stored one. So if a former row has a blob, its units are unknown.
extension QueryStatements {
  /// Adds the units that changes of a table concern, with the columns that may have changed.
  ///
  /// - Parameters:
  ///   - changes: changes that are known row by row.
  ///   - storage: how the table's rows are stored.
  ///   - index: the index of the table in the query.
  /// - Returns: false if the units cannot be determined, so that the query must run again.
  /// - Complexity: O(changed rows × joined rows).
  package func addUnits(
    of changes: ChangedRows, in storage: TableStorage, table index: Int, to units: inout ConcernedUnits
  ) throws(FreshetError) -> Bool {
    if changes.isUnknown { return false }
    guard changes.meets(compiled.tables[index].usedColumns) else { return true }
    if mappings[index].isEmpty || compiled.slowness != nil { return false }
    result.limitValues()
    if units.isEmpty { units = ConcernedUnits(reserving: changes.rows.count) }
    do throws(SQLiteFailure) {
      for mapping in mappings[index] where try !addUnits(of: changes, in: storage, table: index, mapping, to: &units) {
        return false
      }
    } catch { throw FreshetError(queryFailure: error, place: nil) }
    return true
  }

  private func addUnits(
    of changes: ChangedRows, in storage: TableStorage, table index: Int, _ mapping: Mapping,
    to units: inout ConcernedUnits
  ) throws(SQLiteFailure) -> Bool {
    let used = compiled.tables[index].usedColumns
    // Most changes of a commit concern the same columns, so the set for a mask is computed once.
    var (mask, columns) = (ColumnMask.none, ColumnSet())
    let isKnown = try changes.forEachKey(in: storage) { (key, change) throws(SQLiteFailure) in
      guard change.columns == .all || change.columns.intersects(used) else { return true }
      if mapping.isOldMissing(change) { return false }
      if change.columns != mask {
        (mask, columns) = (change.columns, compiled.changedColumns(change.columns, ofTable: index))
      }
      if mapping.mapping.isUnit {
        key.withUnsafeBytes { units.add($0, columns) }
      } else if let new = mapping.new {
        key.withUnsafeBytes { bind($0, to: new, from: mapping.mapping.firstParameter) }
        try addRows(of: new, columns, to: &units)
      }
      return true
    }
    guard isKnown, let old = mapping.old else { return isKnown }
    // A row whose join columns did not change leads to the same units as before, which are found already.
    for row in changes.rows where row.kind != .insert && row.meets(mapping.mapping.joinColumns) {
      if !bind(row, of: changes, in: storage, to: old, mapping.mapping) { return false }
      try addRows(of: old, .all, to: &units)
    }
    return true
  }

  /// Adds the units that changes of tables in subqueries concern. Parameters must be bound again afterwards if they are
  /// needed.
  ///
  /// - Parameters:
  ///   - tables: indexes of the tables whose changed rows virtual tables show.
  ///   - bind: binds the parameters of the query.
  /// - Returns: false if the units cannot be determined.
  package func addUnits(
    nested tables: [Int], binding bind: () -> Void, to units: inout ConcernedUnits
  ) throws(FreshetError) -> Bool {
    let changed = Set(tables.map { compiled.tables[$0].name.lowercased() })
    let isTold = compiled.nestedMappings.allSatisfy { mapping in
      mapping.places.count(where: changed.contains) <= QueryCompiler.mostNestedPlaces
    }
    if !isTold { return false }
    do throws(SQLiteFailure) {
      if nested == nil {
        var statements: [(tables: [String], statement: PreparedStatement)] = []
        for mapping in compiled.nestedMappings {
          statements.append((mapping.tables, try PreparedStatement(bounded: mapping.sql, connection)))
        }
        nested = statements
        result.add(statements.map(\.statement))
      }
      bind()
      for (tables, statement) in nested ?? [] where tables.allSatisfy(changed.contains) {
        try addRows(of: statement, .all, to: &units)
      }
    } catch {
      if FreshetError(queryFailure: error, place: nil).code == .timeout {
        throw FreshetError(queryFailure: error, place: nil)
      }
      return false
    }
    return true
  }

  /// Whether rows of a table that a virtual table shows may concern the query. Parameters must be bound again
  /// afterwards if they are needed.
  ///
  /// - Parameter bind: binds the parameters of the query.
  package func mayPass(table index: Int, binding bind: () -> Void) throws(SQLiteFailure) -> Bool {
    let table = compiled.tables[index]
    if !table.tellsWhatPasses { return true }
    for sql in table.passing where passing[sql] == nil {
      let statement = try PreparedStatement(bounded: sql, connection)
      passing[sql] = statement
      result.add([statement])
    }
    bind()
    for sql in table.passing {
      guard let statement = passing[sql] else { return true }
      defer { statement.reset() }
      if try statement.step() { return true }
    }
    return false
  }

  private func addRows(
    of statement: PreparedStatement, _ columns: ColumnSet, to units: inout ConcernedUnits
  ) throws(SQLiteFailure) {
    defer { statement.reset() }
    let orders = compiled.mappedOrders
    var unit: [UInt8] = []
    while try statement.step() {
      statement.readKey(orders, encoding, into: &unit)
      unit.withUnsafeBytes { units.add($0, columns) }
    }
  }

  /// Binds the fields of an encoded key to the parameters from `first` on.
  func bind(_ key: Bytes, to statement: PreparedStatement, from first: Int32) {
    statement.bind(key: key, from: first, encoding: encoding)
  }

  /// - Returns: false if the row's former values are unknown.
  private func bind(
    _ row: ChangedRows.Row, of changes: ChangedRows, in storage: TableStorage, to statement: PreparedStatement,
    _ mapping: UnitMapping
  ) -> Bool {
    // The text that SQLite makes of a blob (`lower(x)`, `x || ''`) depends on the encoding in which it reads the blob:
    // the database's encoding if the blob comes from a record, and UTF-8 if it was bound.
    var isExact = true
    let bind = { (place: Int32, value: PackedValue) in
      if case .blob = value, self.encoding != .utf8 { isExact = false }
      statement.bind(packed: value, self.encoding, at: mapping.firstParameter + place)
    }
    let columns = mapping.oldColumns
    let keyCount = mapping.oldValues.count - columns.count
    return changes.forEachKeyValue(of: row, in: storage) { bind(Int32($0), $1) }
      && changes.forEachValue(of: row, .former, columns: columns, in: storage) { bind(Int32(keyCount + $0), $1) }
      && isExact
  }
}

extension QueryStatements.Mapping {
  /// Whether the row led to units that cannot be determined any more.
  fileprivate func isOldMissing(_ change: KeyChange) -> Bool {
    if mapping.isUnit || old != nil || !change.wasThere { return false }
    return change.columns == .all || change.columns.intersects(mapping.joinColumns)
  }
}
