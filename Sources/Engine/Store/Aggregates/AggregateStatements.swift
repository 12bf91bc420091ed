import CSQLite
import Ground
import LiveQuery
import RankedCollections

/// The statements of an `AggregatePlan` on one connection. All queries of a shape share them. Their parameters are
/// bound together with those of the result's statements.
///
/// Owner: the thread of the connection. Mutable state: `signed`, `result` and `table`, which are made when they are
/// first needed, on connections that follow the file.
package final class AggregateStatements {
  package let plan: AggregatePlan
  private let connection: OpaquePointer
  private let encoding: TextEncoding
  private let tables: GroupTables?
  private let shelf: AccumulatorShelf
  private let states: PreparedStatement
  private let unitStates: PreparedStatement
  /// Statements for the rows under the groups, if the plan has them: one for all rows, and one for those of a unit.
  private let rows: (all: PreparedStatement, ofUnit: PreparedStatement)?
  /// Statements by their index in the plan's `signed`. Each is prepared when its tables have changed, because a join of
  /// many tables has many.
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

  /// - Returns: whether statements were prepared.
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
  /// - Returns: whether statements were prepared; nil if one does not compile.
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

  /// The most groups and values of `DISTINCT` that are kept. Each takes some hundred bytes.
  private static let mostKept = 100_000

  /// Reads all groups. Parameters must be bound.
  ///
  /// - Returns: nil if there are too many to be kept.
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

  /// - Returns: false if there are too many groups to be kept.
  private func read(
    _ statement: PreparedStatement, into groups: inout AggregateGroups
  ) throws(SQLiteFailure) -> Bool {
    var kept = groups.count
    defer {
      statement.reset()
      shelf.removeAll()
    }
    while try statement.step() {
      // Keys are read first, because reading text as UTF-8 converts SQLite's own copy of it.
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

  /// Reads all rows under the groups. Parameters must be bound.
  ///
  /// - Returns: nil if they take more than `most` bytes.
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
      // Under NOCASE a key also finds a row that is spelled differently now. Such a row belongs to another unit.
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

  /// The changes to groups that the rows in the virtual tables make. Parameters must be bound.
  ///
  /// - Parameter changed: indexes of the query's tables whose changed rows the virtual tables show.
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
  /// - Parameter append: appends groups to the table.
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
