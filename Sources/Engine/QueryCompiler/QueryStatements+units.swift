package import ChangeCapture
import Ground
package import LiveQuery
import RankedCollections
package import Store

// From changed rows to the units of the result that they can concern.
//
// A row of the first table is its own unit. For any other table of `from` two statements find the units: the clause up
// to that table with the row as it is now, and the same with the row's old values in the table's place. The rest of the
// clause must be left out, because an inner join further on may hide just the rows that are gone. Why this is enough:
// take the first table at which a unit's rows differ between two states. Before it everything is as it was, so the row
// that came or went there joins, in the present state, with what it joined with before. Hence it does not matter how
// many tables changed in one transaction.
//
// What is bound for a former row is what its record had, not what its encoded key says: 3.0 and 3 are one key, and
// `typeof` differs between them. In UTF-16 databases a bound blob is not read as text as a stored one is; where a
// former row has a blob, its units are not known.
extension QueryStatements {
  /// Adds the units that changes of a table concern, with the columns that may have changed.
  ///
  /// - Parameters:
  ///   - changes: known row by row.
  ///   - storage: how the table's rows are stored.
  ///   - index: of the table in the query.
  /// - Returns: false when they cannot be found out: the query has to run again.
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
    // Most changes of a commit are of the same columns.
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
    // A row with unchanged join columns leads to the same units as now.
    for row in changes.rows where row.kind != .insert && row.meets(mapping.mapping.joinColumns) {
      if !bind(row, of: changes, in: storage, to: old, mapping.mapping) { return false }
      try addRows(of: old, .all, to: &units)
    }
    return true
  }

  /// Adds the units that changes of tables in subqueries concern. Parameters must be bound again afterwards where they
  /// matter.
  ///
  /// - Parameters:
  ///   - tables: indexes of the tables whose changed rows virtual tables show.
  ///   - bind: binds the parameters of the query.
  /// - Returns: false when they cannot be found out.
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
  /// afterwards where they matter.
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

  /// - Returns: false when the row's former values are not known.
  private func bind(
    _ row: ChangedRows.Row, of changes: ChangedRows, in storage: TableStorage, to statement: PreparedStatement,
    _ mapping: UnitMapping
  ) -> Bool {
    // The text that SQLite makes of a blob (`lower(x)`, `x || ''`) depends on the encoding that the blob is read in:
    // that of the database where it was read from a record, and UTF-8 where it was bound.
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
  /// Whether the row led to units that cannot be found out any more.
  fileprivate func isOldMissing(_ change: KeyChange) -> Bool {
    if mapping.isUnit || old != nil || !change.wasThere { return false }
    return change.columns == .all || change.columns.intersects(mapping.joinColumns)
  }
}
