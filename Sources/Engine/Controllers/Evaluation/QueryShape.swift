import LiveQuery
import QueryCompiler
import Store

/// What queries that differ only in the values of their parameters share: the compiled statements, and how a change finds
/// those of them that it concerns.
///
/// Owner: the follower's thread.
final class QueryShape {
  let statements: QueryStatements
  @exclusivity(unchecked) private(set) var lists: [Int: LiveList] = [:]
  private var nextNumber = 1
  @exclusivity(unchecked) private var router: QueryRouter?
  @exclusivity(unchecked) private var isUnroutable = false
  private let routerNumber: Int
  private let connection: OpaquePointer
  /// How changes of its tables are called. Set once, before anything follows it.
  @exclusivity(unchecked) var captured = CapturedTables.none
  private let mapsByParameters: Bool
  /// Its tables are others, or made otherwise, than when it was compiled: until its queries have another shape they stay as they
  /// are, and nothing of it is run.
  @exclusivity(unchecked) var isOutdated = false
  /// The reader's job that compiles it anew.
  var recompilation: UInt64?

  var compiled: CompiledQuery { statements.compiled }

  /// So many queries are asked one by one.
  private static let routedFrom = 9

  /// - Parameter number: another one for every shape of the connection.
  init(_ statements: QueryStatements, number: Int, connection: OpaquePointer) {
    self.statements = statements
    routerNumber = number
    mapsByParameters = statements.compiled.mapsByParameters
    self.connection = connection
  }

  /// The connection is about to be closed.
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

  /// SQLite has no columns in some places of a statement where it has parameters: then every query is asked.
  private func giveUpRouting() {
    isUnroutable = true
    router = nil
    QueryRouter.drop(number: routerNumber, connection: connection)
  }

  func remove(_ number: Int) {
    lists[number] = nil
    try? router?.remove(number)
  }

  /// The queries that changes can concern, with the units that are to be looked up; nil instead of units: run it again.
  ///
  /// - Parameters:
  ///   - changes: by name of the table, what changed in it.
  ///   - tables: which of the shape's tables have changes, by index.
  func concerned(
    by changes: [ConcernedTable]
  ) throws(FreshetError) -> [(list: LiveList, units: ConcernedUnits?)] {
    var units = ConcernedUnits()
    guard compiled.unit != nil, !mapsByParameters else {
      return try eachByItself(changes)
    }
    // Any query's parameters will do: the mappings read none.
    for table in changes {
      var isKnown = false
      do throws(FreshetError) {
        isKnown = try statements.addUnits(of: table.changes, table: table.index, to: &units)
      } catch {
        // A row that a condition fails on concerns those who would read it.
        if error.code == .timeout { throw error }
      }
      if !isKnown { return lists.values.map { ($0, nil) } }
    }
    if units.isEmpty { return [] }
    if let router, let routed = try? routed(units, changes, router) { return routed }
    // One query's parameters may make an error of what others are asked with: each is asked by itself.
    return lists.values.map { ($0, units) }
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
        // An error is told when it is run again, and of that query alone.
        let isKnown = (try? statements.addUnits(of: table.changes, table: table.index, to: &known)) ?? false
        units = isKnown ? known : nil
        if units == nil { break }
      }
      if units?.isEmpty != true { result.append((list, units)) }
    }
    return result
  }

  private func routed(
    _ units: ConcernedUnits, _ changes: [ConcernedTable], _ router: QueryRouter
  ) throws(FreshetError) -> [(list: LiveList, units: ConcernedUnits?)] {
    var unitsOfQuery: [Int: ConcernedUnits] = [:]
    do {
      try units.forEach { unit, columns in
        var numbers: Set<Int> = []
        try router.addQueries(ofUnit: unit, to: &numbers)
        for number in numbers { unitsOfQuery[number, default: ConcernedUnits()].add(unit, columns) }
      }
    } catch let error as FreshetError { throw error } catch { throw FreshetError(.internal, "\(error)") }
    var before: Set<Int> = []
    var isKnown = router.isExact
    for table in changes where isKnown && compiled.isFirstTable(table.index) {
      isKnown = try router.addQueries(before: table.changes, to: &before)
    }
    if isKnown {
      for number in before { unitsOfQuery[number, default: ConcernedUnits()].add(units) }
    } else {
      // Whoever has rows of a unit may have to give them up.
      for (number, list) in lists {
        units.forEach { unit, columns in
          if list.hasRows(ofUnit: unit) { unitsOfQuery[number, default: ConcernedUnits()].add(unit, columns) }
        }
      }
    }
    return unitsOfQuery.compactMap { number, units in lists[number].map { ($0, units) } }
  }
}
