import ChangeCapture
import Following
package import LiveQuery
import QueryCompiler
import Store

/// Maps changed rows of tables to the lists that they concern, and to the units of their results.
///
/// Queries that differ only in parameter values share a shape: its statements are compiled once, and a change is
/// evaluated once for all of them.
///
/// Owner: the follower's thread. Used within a tick's transaction.
package final class Evaluation {
  private let access: AccessRules
  /// The file's tables as each role sees them.
  private(set) var roles: RoleSchemas
  package private(set) var shapes: [Query: QueryShape] = [:]
  private var shapeCount = 0
  /// The shapes that read a table, by capture's number of the table.
  @exclusivity(unchecked) private var shapesByTable: [Int: [ObjectIdentifier: QueryShape]] = [:]
  /// Tables that are followed although no list reads them, because lists of the previous process did.
  @exclusivity(unchecked) var keptTables: Set<Int> = []
  /// How a table's rows are stored, by capture's number of the table.
  @exclusivity(unchecked) private var storages: [Int: TableStorage] = [:]
  /// The virtual tables of changed rows, by capture's number of the table, for tables that queries can be evaluated
  /// over.
  @exclusivity(unchecked) private(set) var capturedRows: [Int: CapturedRows] = [:]
  /// Virtual tables that no list reads any more, by lower-case name. They are kept because creating or dropping one
  /// makes SQLite compile all statements again.
  @exclusivity(unchecked) private var unusedRows: [String: CapturedRows] = [:]
  /// The connection's tables of groups.
  private var groupTables: GroupTables?
  /// Whether some lists are kept only because other lists need their values.
  @exclusivity(unchecked) var holdsScalars = false
  /// Shapes that any commit may concern.
  @exclusivity(unchecked) private var shapesOfEveryCommit: [ObjectIdentifier: QueryShape] = [:]

  init(_ access: AccessRules) {
    self.access = access
    roles = RoleSchemas(access, .empty)
  }

  /// The query with only the claims that it reads. The schema's views determine which these are.
  package func narrowed(_ query: Query) -> Query {
    // If a role's rules are wrong, compiling the query reports the error.
    (try? roles.schema(for: query.access))?.narrowed(query) ?? query
  }

  func tableName(_ number: Int) -> String? { storages[number]?.table.name }

  // MARK: - Changes

  /// A shape that a tick concerns.
  enum Concern {
    /// Any row of the shape's lists may have changed.
    case anything(QueryShape)
    /// Rows of the shape's tables changed, or tables that its lists read in `alongside`.
    case changes(QueryShape, [ConcernedTable], alongside: Bool)
  }

  /// Calls `body` once for each shape that a tick concerns.
  func forEachConcern(of tick: CapturedTick, _ body: (Concern) -> Void) {
    if tick.commits > 0 { for shape in shapesOfEveryCommit.values { body(.anything(shape)) } }
    if tick.deltas.isEmpty { return }
    defer { for (number, _) in tick.deltas { capturedRows[number]?.forgetRows() } }
    // A shape that reads several of the tables must not be evaluated several times.
    let isOnlyTable = tick.deltas.count == 1
    var known: Set<ObjectIdentifier> = []
    let turns = holdsScalars ? [true, false] : [false]
    for (isFirst, number) in turns.flatMap({ turn in tick.deltas.map { (turn, $0.table) } }) {
      for (id, shape) in shapesByTable[number] ?? [:]
      where !shape.isOutdated && shapesOfEveryCommit[id] == nil && shape.comesFirst == isFirst
        && (isOnlyTable || known.insert(id).inserted)
      {
        if let tables = shape.captured.concernedTables(shape.compiled.tables, tick) {
          body(.changes(shape, tables, alongside: shape.captured.concernsAlongside(tick)))
        } else {
          body(.anything(shape))
        }
      }
    }
  }

  // MARK: - Shapes

  /// The query's shape, compiled if it is the first with that shape.
  ///
  /// - Parameter compiled: the query as a reader compiled it.
  func shape(of query: Query, _ compiled: CompiledQuery, _ database: OpenDatabase) throws(FreshetError) -> QueryShape {
    let key = query.withoutValues
    if let known = shapes[key] { return known }
    let connection = database.connection
    let groups = groupTables ?? GroupTables(connection.raw)
    groupTables = groups
    let statements = try QueryStatements(
      compiled, connection: connection.raw, encoding: connection.encoding, transaction: connection.transaction,
      groups: groups)
    shapeCount += 1
    let shape = QueryShape(statements, number: shapeCount, connection: connection.raw)
    shapes[key] = shape
    shape.captured = CapturedTables(compiled, database.schema, connection.capture)
    for (number, storage) in shape.captured.storages {
      shapesByTable[number, default: [:]][ObjectIdentifier(shape)] = shape
      storages[number] = storage
    }
    for number in shape.captured.evaluated(compiled) { prepareCapturedRows(number, shape, database) }
    if shape.captured.isOfEveryCommit { shapesOfEveryCommit[ObjectIdentifier(shape)] = shape }
    return shape
  }

  /// Makes the virtual table that holds the changed rows of one of the shape's tables.
  private func prepareCapturedRows(_ number: Int, _ shape: QueryShape, _ database: OpenDatabase) {
    guard let storage = shape.captured.storages[number], let table = database.schema.table(storage.table.name) else {
      return
    }
    if let known = capturedRows[number] {
      if known.storage == storage { return }
      capturedRows[number] = nil
      known.drop()
    }
    let connection = database.connection
    if let unused = unusedRows.removeValue(forKey: storage.table.name.lowercased()) {
      if unused.storage == storage {
        capturedRows[number] = unused
        return
      }
      unused.drop()
    }
    capturedRows[number] = CapturedRows(storage, table.columns, connection.raw, connection.encoding)
  }

  private func setAsideCapturedRows(_ number: Int) {
    guard let rows = capturedRows.removeValue(forKey: number) else { return }
    unusedRows[rows.storage.table.name.lowercased()] = rows
  }

  /// Whether lists that changes of these tables concern can be brought up to date from the changed rows alone.
  package func readsNothingElse(afterChangesOf tables: [Int]) -> Bool {
    if !shapesOfEveryCommit.isEmpty { return false }
    return tables.allSatisfy { number in
      capturedRows[number] != nil
        && (shapesByTable[number] ?? [:]).values.allSatisfy { $0.isOutdated || $0.readsNothingElse }
    }
  }

  /// The changed rows of a tick, if the shape's queries can be evaluated over them; nil if they must be looked up.
  func capturedRows(_ shape: QueryShape, _ tables: [ConcernedTable], _ tick: CapturedTick) -> CapturedRows? {
    guard shape.compiled.unit?.capturedSQL != nil, tables.count == 1, let table = tables.first, !tick.hasStopped,
      let rows = capturedRows[table.number]
    else { return nil }
    rows.take(table.changes)
    return rows
  }

  /// Forgets a shape that has no lists any more.
  ///
  /// - Parameter query: one of its queries.
  func forget(_ shape: QueryShape, of query: Query, _ capture: ChangeCapture?) {
    let key = query.withoutValues
    if shapes[key] === shape { shapes[key] = nil }
    for number in shape.captured.storages.keys { shapesByTable[number]?[ObjectIdentifier(shape)] = nil }
    shapesOfEveryCommit[ObjectIdentifier(shape)] = nil
    forgetUnusedTables(capture)
  }

  /// Stops following tables that no list reads any more.
  func forgetUnusedTables(_ capture: ChangeCapture?) {
    guard let capture else { return }
    for number in capture.numbers where shapesByTable[number]?.isEmpty != false && !keptTables.contains(number) {
      shapesByTable[number] = nil
      storages[number] = nil
      setAsideCapturedRows(number)
      capture.unfollow(number)
    }
  }

  // MARK: - The schema

  /// Called when the schema has changed.
  ///
  /// - Parameter isSameFile: whether the former schema belonged to the same file.
  /// - Returns: the shapes whose own tables have, or may have, changed.
  func schemaChanged(
    from former: DatabaseSchema, to schema: DatabaseSchema, isSameFile: Bool, _ capture: ChangeCapture
  ) -> [QueryShape] {
    roles = RoleSchemas(access, schema)
    let hasSameViews = isSameFile && former.viewDefinitions == schema.viewDefinitions
    let added = schema.tables.map(\.name).filter { former.table($0) == nil }
    let outdated = shapes.values.filter { shape in
      !hasSameViews || !shape.compiled.readsSame(in: schema) || shape.compiled.mayName(added)
    }
    for shape in outdated { outdate(shape) }
    // The memory that capture has of these tables cannot describe their changes any more.
    for (number, storage) in storages {
      let now = schema.table(storage.table.name)?.storage
      if now?.table.definition == storage.table.definition { continue }
      storages[number] = nil
      setAsideCapturedRows(number)
    }
    forgetUnusedTables(capture)
    return outdated
  }

  /// Called when the connection is about to be closed or replaced by another file's, which invalidates its statements.
  ///
  /// - Returns: the shapes that were in use.
  func connectionCloses() -> [QueryShape] {
    let outdated = Array(shapes.values)
    for shape in outdated { outdate(shape) }
    shapes = [:]
    shapesByTable = [:]
    storages = [:]
    groupTables = nil
    // The virtual tables end with the connection.
    capturedRows = [:]
    unusedRows = [:]
    shapesOfEveryCommit = [:]
    return outdated
  }

  /// Stops running the shape's statements. Its lists keep what they show until they have another shape.
  func outdate(_ shape: QueryShape) {
    shape.isOutdated = true
    shapesOfEveryCommit[ObjectIdentifier(shape)] = nil
    if let query = shape.lists.values.first?.query { shapes[query.withoutValues] = nil }
  }
}

extension Query {
  /// The query without parameter values, claims and roles. The query's shapes in all schemas have this in common.
  var text: Query {
    var query = withoutValues
    query.access.read = []
    return query
  }

  /// The query without its parameters' values: the shape's identity.
  package var withoutValues: Query {
    var query = self
    switch parameters {
    case .none: break
    case .positional(let values): query.parameters = .positional(values.map { _ in .null })
    case .named(let values): query.parameters = .named(values.mapValues { _ in .null })
    }
    query.access.claims = [:]
    return query
  }
}
