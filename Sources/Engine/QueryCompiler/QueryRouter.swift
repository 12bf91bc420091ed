package import ChangeCapture
package import Ground
package import LiveQuery
import RankedCollections
package import Store

/// Finds which of many queries of one shape a unit concerns.
///
/// A temporary table of the connection, in memory, has the parameters of every query. If `where` compares columns of
/// the first table with parameters for equality, an index leads from a row's values to the queries. Otherwise one
/// statement evaluates `where` for all queries.
///
/// Owner: the follower's thread. To be released before the connection is closed.
package final class QueryRouter {
  private let statements: QueryStatements
  private let routing: QueryRouting
  private let encoding: TextEncoding
  private let table: String
  private let insert: PreparedStatement
  private let delete: PreparedStatement
  /// Finds queries by a unit, whose values are the parameters.
  private let ofUnit: PreparedStatement
  /// Finds queries by the former values of the terms' columns, which are the parameters; nil if there are no terms.
  private let ofOldValues: PreparedStatement?

  /// Reads the changed rows, and returns queries and their units. Prepared when it is first used, once the connection
  /// has the virtual table.
  private var ofCaptured: PreparedStatement?
  private let connection: OpaquePointer
  /// Whether `queries(of:evaluating:)` probably needs only the changed rows.
  package private(set) var evaluatesCaptured: Bool

  /// Whether queries that `addQueries(ofUnit:to:)` does not find may still have rows of the unit, so that they must be
  /// checked.
  package var isExact: Bool { !routing.terms.isEmpty }

  /// - Parameter number: unique among the connection's routers.
  package init(_ routing: QueryRouting, number: Int, statements: QueryStatements, connection: OpaquePointer)
    throws(FreshetError)
  {
    self.statements = statements
    self.routing = routing
    encoding = statements.encoding
    self.connection = connection
    evaluatesCaptured = routing.captured != nil
    table = "temp._freshet_route_\(number)"
    do throws(SQLiteFailure) {
      try QueryRouter.create(routing, table: table, number: number, connection)
      let places = (0...routing.columns.count).map { "?\($0 + 1)" }
      insert = try PreparedStatement(connection, "INSERT INTO \(table) VALUES (\(places.joined(separator: ", ")))")
      delete = try PreparedStatement(connection, "DELETE FROM \(table) WHERE \(QueryRouting.query) = ?1")
      let route = "\(table) AS \(QueryRouting.table)"
      ofUnit = try PreparedStatement(
        bounded: "SELECT DISTINCT \(QueryRouting.query) FROM \(route), \(routing.fromSQL) WHERE \(routing.whereSQL)",
        connection)
      if !routing.terms.isEmpty {
        let terms = routing.terms.indices.map { "\(QueryRouting.term($0)) = ?\($0 + 1)" }
        ofOldValues = try PreparedStatement(
          connection, "SELECT \(QueryRouting.query) FROM \(route) WHERE \(terms.joined(separator: " AND "))")
      } else {
        ofOldValues = nil
      }
    } catch { throw FreshetError(queryFailure: error, place: nil) }
  }

  private static func create(
    _ routing: QueryRouting, table: String, number: Int, _ connection: OpaquePointer
  ) throws(SQLiteFailure) {
    let columns = ["\(QueryRouting.query) INTEGER PRIMARY KEY"] + routing.columns.map { "\($0.name) \($0.declaration)" }
    // The table has no rowid, because the name of a rowid could be used in a query.
    try PreparedStatement.run(
      connection, "CREATE TEMP TABLE _freshet_route_\(number)(\(columns.joined(separator: ", "))) WITHOUT ROWID")
    guard !routing.terms.isEmpty else { return }
    let indexed = routing.columns.map(\.name).joined(separator: ", ")
    try PreparedStatement.run(
      connection, "CREATE INDEX temp._freshet_route_index_\(number) ON _freshet_route_\(number)(\(indexed))")
  }

  /// Adds a query with a number of its own.
  package func add(_ query: Int, _ parameters: [SQLValue]) throws(FreshetError) {
    insert.bind(.integer(Int64(query)), at: 1)
    for (index, column) in routing.columns.enumerated() {
      insert.bind(parameters[column.parameter - 1], at: Int32(index + 2))
    }
    try run(insert)
  }

  package func remove(_ query: Int) throws(FreshetError) {
    delete.bind(.integer(Int64(query)), at: 1)
    try run(delete)
  }

  private func run(_ statement: PreparedStatement) throws(FreshetError) {
    defer { statement.reset() }
    do throws(SQLiteFailure) { _ = try statement.step() } catch { throw FreshetError(queryFailure: error, place: nil) }
  }

  /// Adds the queries whose `where` may be true for the unit's present rows. O(log queries + those found), or
  /// O(queries).
  package func addQueries(ofUnit unit: Bytes, to queries: inout Set<Int>) throws(FreshetError) {
    ofUnit.bind(key: unit, from: 1, encoding: encoding)
    try addRows(of: ofUnit, to: &queries)
  }

  /// The queries whose `where` may be true for rows of the units, each with these units. They are found from the
  /// changed rows, without a look-up. O(units × log queries + those found), or O(units × queries).
  ///
  /// - Returns: nil if the units must be looked up, which also reports errors.
  package func queries(of units: ConcernedUnits, evaluating captured: CapturedRows) -> [Int: ConcernedUnits]? {
    guard captured.load(), let statement = prepareCaptured() else { return nil }
    let orders = statements.compiled.unit?.orders ?? []
    var result: [Int: ConcernedUnits] = [:]
    var unit: [UInt8] = []
    statements.result.limitValues()
    let isDone = try? captured.withRows(of: units) {
      defer { statement.reset() }
      while try statement.step() {
        statement.readKey(orders, from: 1, encoding, into: &unit)
        let query = Int(statement.integer(0))
        let isUnit = unit.withUnsafeBytes { unit in
          guard let columns = units.columns(of: unit) else { return false }
          result[query, default: ConcernedUnits()].add(unit, columns)
          return true
        }
        if !isUnit { return false }
      }
      return true
    }
    return isDone == true ? result : nil
  }

  private func prepareCaptured() -> PreparedStatement? {
    guard ofCaptured == nil, evaluatesCaptured, let captured = routing.captured else { return ofCaptured }
    ofCaptured = try? PreparedStatement(
      bounded: """
        SELECT \(QueryRouting.query), \(captured.unitSQL)
        FROM \(captured.fromSQL) CROSS JOIN \(table) AS \(QueryRouting.table) WHERE \(captured.whereSQL)
        """, connection)
    evaluatesCaptured = ofCaptured != nil
    return ofCaptured
  }

  /// Adds the queries that had rows of the first table before these changed.
  ///
  /// - Returns: false if that is unknown, so that any query may have had the rows.
  package func addQueries(
    before changes: ChangedRows, in storage: TableStorage, to queries: inout Set<Int>
  ) throws(FreshetError) -> Bool {
    if routing.terms.isEmpty { return true }
    // A row with a changed key counts as a different row.
    let terms = ColumnMask(rawValue: routing.terms.reduce(storage.keyMask.rawValue) { $0 | $1.mask.rawValue })
    let mayDiffer = { (row: ChangedRows.Row) in row.kind != .insert && row.meets(terms) }
    if !changes.rows.contains(where: mayDiffer) { return true }
    guard let ofOldValues else { return false }
    let columns = routing.terms.map(\.index)
    for row in changes.rows where row.kind != .insert {
      let isTold = changes.forEachValue(of: row, .former, columns: columns, in: storage) { index, value in
        ofOldValues.bind(packed: value, encoding, at: Int32(index + 1))
      }
      if !isTold { return false }
      try addRows(of: ofOldValues, to: &queries)
    }
    return true
  }

  private func addRows(of statement: PreparedStatement, to queries: inout Set<Int>) throws(FreshetError) {
    defer { statement.reset() }
    statements.result.limitValues()
    do throws(SQLiteFailure) {
      while try statement.step() { queries.insert(Int(statement.integer(0))) }
    } catch { throw FreshetError(queryFailure: error, place: nil) }
  }

  /// Drops the temporary table. This is not done in `deinit`, because the statements must be released before.
  package static func drop(number: Int, connection: OpaquePointer) {
    try? PreparedStatement.run(connection, "DROP TABLE IF EXISTS temp._freshet_route_\(number)")
  }
}

extension QueryRouting {
  /// The columns of the table of parameters, after the query's number: one copy for each term, or each parameter once.
  fileprivate var columns: [(name: String, declaration: String, parameter: Int)] {
    let unqualified = { (name: String) in String(name.dropFirst(Self.table.count + 1)) }
    if terms.isEmpty {
      return (0..<parameterCount).map { (unqualified(Self.parameter("\($0 + 1)")), "", $0 + 1) }
    }
    return terms.enumerated().map { (unqualified(Self.term($0)), $1.declaration, $1.parameter) }
  }
}
