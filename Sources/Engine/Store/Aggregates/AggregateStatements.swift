import CSQLite
import Ground
import LiveQuery
import RankedCollections

/// The statements of an `AggregatePlan` on one connection. All queries of a shape share them: parameters are bound with
/// the result's own.
///
/// Owner: the thread of the connection. Mutable state: `signed`, `result` and `table`, made when they are first needed,
/// on connections that follow the file.
package final class AggregateStatements {
  package let plan: AggregatePlan
  private let connection: OpaquePointer
  private let encoding: TextEncoding
  private let tables: GroupTables?
  private let shelf: AccumulatorShelf
  private let states: PreparedStatement
  private let unitStates: PreparedStatement
  /// The rows under the groups, where the plan has them: all, and those of a unit.
  private let rows: (all: PreparedStatement, ofUnit: PreparedStatement)?
  /// By place in the plan's, prepared when its tables have changed: of many joined tables there are many.
  @exclusivity(unchecked) private var signed: [Int: PreparedStatement] = [:]
  @exclusivity(unchecked) private var result: PreparedStatement?
  @exclusivity(unchecked) private var table: GroupTable?
  @exclusivity(unchecked) private var hasTried = false

  init(
    _ plan: AggregatePlan, _ connection: OpaquePointer, _ encoding: TextEncoding, _ tables: GroupTables?
  ) throws(SQLiteFailure) {
    self.plan = plan
    self.connection = connection
    self.encoding = encoding
    self.tables = tables
    shelf = AccumulatorShelf(encoding)
    states = try PreparedStatement(bounded: plan.statesSQL, connection)
    unitStates = try PreparedStatement(bounded: plan.unitStatesSQL, connection)
    rows = try plan.rows.map { rows throws(SQLiteFailure) in
      (
        try PreparedStatement(bounded: rows.allSQL, connection),
        try PreparedStatement(bounded: rows.unitSQL, connection)
      )
    }
  }

  deinit { if let table { tables?.giveBack(table) } }

  var all: [PreparedStatement] {
    [states, unitStates] + Array(signed.values) + [result, rows?.all, rows?.ofUnit].compactMap(\.self)
  }

  var isPrepared: Bool { result != nil }

  /// - Returns: whether there are statements now that were not there before.
  func prepare() -> Bool {
    if hasTried { return false }
    hasTried = true
    guard let tables, let table = tables.take(plan.groupColumns, count: plan.groupCount + plan.calls.count) else {
      return false
    }
    do throws(SQLiteFailure) {
      let sql = "\(plan.select) \(table.reference)\(plan.condition)"
      result = try PreparedStatement(bounded: sql, connection)
      self.table = table
      return true
    } catch {
      tables.giveBack(table)
      return false
    }
  }

  /// Prepares the statements that follow changes of some tables.
  ///
  /// - Returns: whether there are statements now that were not there before; nil: one does not compile.
  func prepare(forChangesOf tables: [Int]) -> Bool? {
    var areNew = false
    for (index, change) in plan.signed.enumerated()
    where signed[index] == nil && change.tables.allSatisfy(tables.contains) {
      guard let statement = try? PreparedStatement(bounded: change.sql, connection) else { return nil }
      signed[index] = statement
      areNew = true
    }
    return areNew
  }

  // MARK: - Groups as they are

  /// Groups, and values of `DISTINCT`, that are kept at most: some hundred bytes each.
  private static let mostKept = 100_000

  /// Parameters must be bound.
  ///
  /// - Returns: nil when there are too many to be kept.
  func readGroups() throws(SQLiteFailure) -> AggregateGroups? {
    var groups = AggregateGroups(encoding)
    shelf.bind(to: states, at: plan.shelfParameter)
    return try read(states, into: &groups) ? groups : nil
  }

  /// Reads one group anew. Parameters must be bound.
  func ask(_ unit: Bytes, in groups: inout AggregateGroups) throws(SQLiteFailure) {
    groups[Array(unit)] = nil
    shelf.bind(to: unitStates, at: plan.shelfParameter)
    unitStates.bind(key: unit, from: plan.firstParameter, encoding: encoding)
    _ = try read(unitStates, into: &groups)
  }

  /// - Returns: false when there is more than is kept.
  private func read(
    _ statement: PreparedStatement, into groups: inout AggregateGroups
  ) throws(SQLiteFailure) -> Bool {
    var kept = groups.count
    defer {
      statement.reset()
      shelf.removeAll()
    }
    while try statement.step() {
      // Keys first: reading text as UTF-8 converts it where SQLite keeps it.
      let key = key(of: statement, from: 0)
      let values = (0..<plan.groupCount).map { KeptValue(statement.value($0)) }
      let calls = plan.calls.indices.map { index in
        shelf.accumulator(statement.value(plan.groupCount + 1 + index)) ?? plan.calls[index].empty(encoding)
      }
      groups[key] = AggregateGroups.Group(
        rowCount: statement.integer(plan.groupCount), values: values, calls: calls,
        isAmbiguous: statement.integer(plan.groupCount + 1 + plan.calls.count) != 0)
      shelf.removeAll()
      kept += calls.reduce(1) { $0 + $1.keptValues }
      if kept > Self.mostKept { return false }
    }
    return true
  }

  private func key(of statement: PreparedStatement, from first: Int) -> [UInt8] {
    var key: [UInt8] = []
    for column in first..<first + plan.groupCount {
      PreparedStatement.appendKey(statement.handle, Int32(column), .identity, encoding, to: &key)
    }
    return key
  }

  // MARK: - Rows under the groups

  /// Parameters must be bound.
  ///
  /// - Returns: nil when they take more than `most` bytes.
  func readRows(most: Int) throws(SQLiteFailure) -> KeptRows? {
    guard let rows, let orders = plan.rows?.orders else { return nil }
    var kept = KeptRows()
    var unit: [UInt8] = []
    var row: [UInt8] = []
    defer { rows.all.reset() }
    while try rows.all.step() {
      rows.all.readKey(orders, encoding, into: &unit)
      row.removeAll(keepingCapacity: true)
      appendRow(of: rows.all, to: &row)
      kept.add(row, to: unit)
      if kept.byteCount > most { return nil }
    }
    return kept
  }

  /// The rows of a unit. Parameters must be bound.
  func rows(of unit: Bytes) throws(SQLiteFailure) -> [UInt8] {
    guard let statement = rows?.ofUnit, let plan = plan.rows else { return [] }
    statement.bind(key: unit, from: plan.firstParameter, encoding: encoding, orders: plan.orders)
    var found: [UInt8] = []
    var other: [UInt8] = []
    defer { statement.reset() }
    while try statement.step() {
      statement.readKey(plan.orders, encoding, into: &other)
      // Under NOCASE a key finds its row also when that is spelled otherwise now: it is another unit's.
      if other.withUnsafeBytes({ $0.equals(unit) }) { appendRow(of: statement, to: &found) }
    }
    return found
  }

  private func appendRow(of statement: PreparedStatement, to rows: inout [UInt8]) {
    let first = plan.rows?.orders.count ?? 0
    let key = key(of: statement, from: first)
    var values = PackedValues()
    for column in first..<first + plan.groupCount + plan.calls.count { values.append(statement.value(column)) }
    KeptRows.append(key, values, to: &rows)
  }

  // MARK: - Changes

  /// The changes that the rows of the virtual tables make to groups. Parameters must be bound.
  ///
  /// - Parameter changed: indexes of the query's tables whose changed rows are shown.
  func changes(ofTables changed: [Int]) throws(SQLiteFailure) -> GroupChanges {
    var changes = GroupChanges(plan)
    for (index, change) in plan.signed.enumerated() where change.tables.allSatisfy(changed.contains) {
      guard let statement = signed[index] else { continue }
      defer { statement.reset() }
      while try statement.step() {
        let sign = statement.integer(0)
        let key = key(of: statement, from: 1)
        changes.add(sign: sign, key: key) { values in
          for column in 0..<plan.groupCount + plan.calls.count { values.append(statement.value(column + 1)) }
        }
      }
    }
    return changes
  }

  // MARK: - Rows of groups

  /// Calls `body` with the statement that gives the result's rows of groups. Parameters must be bound.
  ///
  /// - Parameter append: appends the groups.
  func withResult<Result>(_ append: (GroupTable) throws -> Void, _ body: (PreparedStatement) throws -> Result) throws
    -> Result?
  {
    guard let table, let result else { return nil }
    table.removeAll()
    try append(table)
    return try table.show {
      defer { result.reset() }
      return try body(result)
    }
  }
}
