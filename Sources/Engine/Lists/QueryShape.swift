import LiveQuery
package import QueryCompiler
import RankedCollections
import Store

/// The compiled statements that queries share which differ only in parameter values. It also finds those of these
/// queries that a change concerns.
///
/// Owner: the follower's thread.
package final class QueryShape {
  let statements: QueryStatements
  @exclusivity(unchecked) private(set) var lists: [Int: LiveList] = [:]
  private var nextNumber = 1
  @exclusivity(unchecked) private var router: QueryRouter?
  @exclusivity(unchecked) private var isUnroutable = false
  private let routerNumber: Int
  private let connection: OpaquePointer
  /// The tables with capture's numbers. Set once, before any list follows the shape.
  @exclusivity(unchecked) var captured = CapturedTables.none
  private let mapsByParameters: Bool
  /// The shape's tables have changed since it was compiled. Its lists keep what they show until they have another
  /// shape, and its statements are not run any more.
  @exclusivity(unchecked) var isOutdated = false
  /// The number of consecutive changes whose look-ups took too long.
  var slowTicks = 0
  /// Whether other lists need the values that its lists keep, so that a tick follows these first.
  var comesFirst = false
  /// The number of the reader's job that compiles it again.
  var recompilation: UInt64?

  package var compiled: CompiledQuery { statements.compiled }

  /// The number of queries from which on changes are routed. With fewer, each query is tested separately.
  private static let routedFrom = 9

  /// - Parameter number: unique among the shapes of the connection.
  init(_ statements: QueryStatements, number: Int, connection: OpaquePointer) {
    self.statements = statements
    routerNumber = number
    mapsByParameters = statements.compiled.mapsByParameters
    self.connection = connection
  }

  /// Whether its lists need only the changed rows of its one table.
  var readsNothingElse: Bool {
    compiled.readsNothingElse && router?.evaluatesCaptured != false
  }

  /// Called when the connection is about to be closed.
  func close() {
    isUnroutable = true
    router = nil
    statements.close()
  }

  deinit {
    if router == nil { return }
    router = nil
    QueryRouter.drop(number: routerNumber, connection: connection)
  }

  /// - Returns: the query's number in the shape.
  func add(_ list: LiveList) -> Int {
    let number = nextNumber
    nextNumber += 1
    lists[number] = list
    do throws(FreshetError) {
      if let router {
        try router.add(number, list.parameters)
      } else if lists.count >= Self.routedFrom, !mapsByParameters, !isUnroutable, let routing = compiled.routing {
        let router = try QueryRouter(routing, number: routerNumber, statements: statements, connection: connection)
        for (number, list) in lists { try router.add(number, list.parameters) }
        self.router = router
      }
    } catch { giveUpRouting() }
    return number
  }

  /// Tests each query separately from now on. Some places in a statement accept parameters but not columns.
  private func giveUpRouting() {
    isUnroutable = true
    router = nil
    QueryRouter.drop(number: routerNumber, connection: connection)
  }

  func remove(_ number: Int) {
    lists[number] = nil
    try? router?.remove(number)
  }

  /// The queries that changes may concern, with the units to look up; nil instead of units if the query must run again.
  ///
  /// - Parameters:
  ///   - changes: changes by table name.
  ///   - captured: the changed rows, if `where` can be evaluated over them; nil if they must be looked up.
  func concerned(
    by changes: [ConcernedTable], _ captured: CapturedRows? = nil
  ) throws(FreshetError) -> [(list: LiveList, units: ConcernedUnits?)] {
    var units = ConcernedUnits()
    guard compiled.unit != nil, !mapsByParameters else {
      return try eachByItself(changes)
    }
    // The mappings read no parameters, so the results for one query are right for all.
    for table in changes {
      var isKnown = false
      do throws(FreshetError) {
        isKnown = try addUnits(of: table, to: &units)
      } catch {
        // If a condition fails for a row, all queries that would read the row are concerned.
        if error.code == .timeout { throw error }
      }
      if !isKnown { return lists.values.map { ($0, nil) } }
    }
    if units.isEmpty { return [] }
    if let router, let routed = try? routed(units, changes, captured, router) { return routed }
    // One query's parameters may cause an error in the routing statement, so each query is tested separately.
    return lists.values.map { ($0, units) }
  }

  /// Adds the units that changes of a table concern.
  ///
  /// - Returns: false if the units cannot be determined, so that the query must run again.
  private func addUnits(of table: ConcernedTable, to units: inout ConcernedUnits) throws(FreshetError) -> Bool {
    guard let storage = captured.storages[table.number] else { return false }
    return try statements.addUnits(of: table.changes, in: storage, table: table.index, to: &units)
  }

  /// The units that changes may concern; nil if they cannot be determined.
  func units(of list: LiveList, changedBy tables: [ConcernedTable]) throws(FreshetError) -> ConcernedUnits? {
    var units = ConcernedUnits()
    list.reader.bind()
    for table in tables {
      guard try addUnits(of: table, to: &units) else { return nil }
    }
    return units
  }

  private func eachByItself(
    _ changes: [ConcernedTable]
  ) throws(FreshetError) -> [(list: LiveList, units: ConcernedUnits?)] {
    var result: [(list: LiveList, units: ConcernedUnits?)] = []
    for list in lists.values {
      var units: ConcernedUnits? = ConcernedUnits()
      list.reader.bind()
      for table in changes {
        var known = units ?? ConcernedUnits()
        // Running the query again reports the error, and only to this query's clients.
        let isKnown = (try? addUnits(of: table, to: &known)) ?? false
        units = isKnown ? known : nil
        if units == nil { break }
      }
      if units?.isEmpty != true { result.append((list, units)) }
    }
    return result
  }

  private func routed(
    _ units: ConcernedUnits, _ changes: [ConcernedTable], _ captured: CapturedRows?, _ router: QueryRouter
  ) throws(FreshetError) -> [(list: LiveList, units: ConcernedUnits?)] {
    var unitsOfQuery: [Int: ConcernedUnits]
    if let captured, let evaluated = router.queries(of: units, evaluating: captured) {
      compare(evaluated, to: units, captured, router)
      unitsOfQuery = evaluated
    } else {
      unitsOfQuery = try lookUp(units, router)
    }
    var before: Set<Int> = []
    var isKnown = router.isExact
    for table in changes where isKnown && compiled.isFirstTable(table.index) {
      isKnown = false
      guard let storage = self.captured.storages[table.number] else { break }
      isKnown = try router.addQueries(before: table.changes, in: storage, to: &before)
    }
    if isKnown {
      for number in before { unitsOfQuery[number, default: ConcernedUnits()].add(units) }
    } else {
      // Queries whose results have a unit may have to remove it.
      for (number, list) in lists {
        units.forEach { unit, columns in
          if list.hasRows(ofUnit: unit) { unitsOfQuery[number, default: ConcernedUnits()].add(unit, columns) }
        }
      }
    }
    return unitsOfQuery.compactMap { number, units in lists[number].map { ($0, units) } }
  }

  /// The queries whose `where` may be true for the present rows of the units.
  private func lookUp(_ units: ConcernedUnits, _ router: QueryRouter) throws(FreshetError) -> [Int: ConcernedUnits] {
    guard statements.result.isInTransaction() else {
      throw FreshetError(.overloaded, "the database cannot be read at the moment: its read transaction has ended")
    }
    var result: [Int: ConcernedUnits] = [:]
    do {
      try units.forEach { unit, columns in
        var numbers: Set<Int> = []
        try router.addQueries(ofUnit: unit, to: &numbers)
        for number in numbers { result[number, default: ConcernedUnits()].add(unit, columns) }
      }
    } catch let error as FreshetError { throw error } catch { throw FreshetError(.internal, "\(error)") }
    return result
  }

  /// If rows are compared, ends the process if looking the units up leads to other queries than evaluating them.
  private func compare(
    _ evaluated: [Int: ConcernedUnits], to units: ConcernedUnits, _ captured: CapturedRows, _ router: QueryRouter
  ) {
    guard ResultReader.comparesRows, statements.result.hasTransaction || Bool.random(),
      let lookedUp = try? lookUp(units, router)
    else { return }
    for number in Set(evaluated.keys).union(lookedUp.keys) {
      units.forEach { unit, _ in
        // Under NOCASE the key of a deleted row may find another row.
        if captured.isThere(unit) != true { return }
        let isEvaluated = evaluated[number]?.columns(of: unit) != nil
        if isEvaluated != (lookedUp[number]?.columns(of: unit) != nil) {
          fatalError(
            "a row that was evaluated concerns other queries than when it is looked up: \(compiled.unit?.capturedSQL ?? "")"
          )
        }
      }
    }
  }
}
