import ChangeCapture
import LiveQuery
import QueryCompiler
import Store

/// From changed rows of tables to the lists that they concern, and the units of their results.
///
/// Queries that differ only in the values of their parameters share a shape: its statements are compiled once, and a change is
/// evaluated once for all of them.
///
/// Owner: the follower's thread. Used within a tick's transaction.
final class Evaluation {
  private let access: AccessRules
  /// What the file's tables are to each role.
  private(set) var roles: RoleSchemas
  private(set) var shapes: [Query: QueryShape] = [:]
  private var shapeCount = 0
  /// By the number that capture gave to a table, the shapes that read it.
  @exclusivity(unchecked) private var shapesByTable: [Int: [ObjectIdentifier: QueryShape]] = [:]
  /// By the number that capture gave to a table, how its rows are stored.
  @exclusivity(unchecked) private var storages: [Int: TableStorage] = [:]
  /// Shapes that any commit may concern.
  @exclusivity(unchecked) private var shapesOfEveryCommit: [ObjectIdentifier: QueryShape] = [:]

  init(_ access: AccessRules) {
    self.access = access
    roles = RoleSchemas(access, .empty)
  }

  /// The query as it is followed: with the claims that it reads, and no others. Which these are depends on the schema's views.
  func narrowed(_ query: Query) -> Query {
    // If a role's rules are wrong, compiling the query reports it.
    (try? roles.schema(for: query.access))?.narrowed(query) ?? query
  }

  func tableName(_ number: Int) -> String? { storages[number]?.table.name }

  // MARK: - Changes

  /// A shape that a tick concerns.
  enum Concern {
    /// Any row of its lists may be another one.
    case anything(QueryShape)
    /// Rows of its tables changed, or what its lists read alongside.
    case changes(QueryShape, [ConcernedTable], alongside: Bool)
  }

  /// Calls `body` with the shapes that a tick concerns, each once.
  func forEachConcern(of tick: CapturedTick, _ capture: ChangeCapture, _ body: (Concern) -> Void) {
    if tick.commits > 0 { for shape in shapesOfEveryCommit.values { body(.anything(shape)) } }
    if tick.deltas.isEmpty { return }
    var changes: [TableChanges] = []
    changes.reserveCapacity(tick.deltas.count)
    for (number, delta) in tick.deltas {
      changes.append(
        TableChanges(delta, number: number, storage: storages[number]) { capture.rememberedFields(of: number) })
    }
    // A shape that reads several of the tables is evaluated once.
    let isOnlyTable = tick.deltas.count == 1
    var known: Set<ObjectIdentifier> = []
    for (number, _) in tick.deltas {
      for (id, shape) in shapesByTable[number] ?? [:]
      where !shape.isOutdated && shapesOfEveryCommit[id] == nil && (isOnlyTable || known.insert(id).inserted) {
        if let tables = shape.captured.concernedTables(shape.compiled.tables, changes) {
          body(.changes(shape, tables, alongside: shape.captured.concernsAlongside(changes)))
        } else {
          body(.anything(shape))
        }
      }
    }
  }

  // MARK: - Shapes

  /// What queries of this one's shape share.
  ///
  /// - Parameter compiled: what a reader made of the query.
  func shape(of query: Query, _ compiled: CompiledQuery, _ database: OpenDatabase) throws(FreshetError) -> QueryShape {
    let key = query.withoutValues
    if let known = shapes[key] { return known }
    let connection = database.connection
    let statements = try QueryStatements(compiled, connection: connection.raw, encoding: connection.encoding)
    shapeCount += 1
    let shape = QueryShape(statements, number: shapeCount, connection: connection.raw)
    shapes[key] = shape
    shape.captured = CapturedTables(compiled, database.schema, connection.capture)
    for (number, storage) in shape.captured.storages {
      shapesByTable[number, default: [:]][ObjectIdentifier(shape)] = shape
      storages[number] = storage
    }
    if shape.captured.isOfEveryCommit { shapesOfEveryCommit[ObjectIdentifier(shape)] = shape }
    return shape
  }

  /// No list has this shape any more.
  ///
  /// - Parameter query: one of its queries.
  func forget(_ shape: QueryShape, of query: Query, _ capture: ChangeCapture?) {
    let key = query.withoutValues
    if shapes[key] === shape { shapes[key] = nil }
    for number in shape.captured.storages.keys { shapesByTable[number]?[ObjectIdentifier(shape)] = nil }
    shapesOfEveryCommit[ObjectIdentifier(shape)] = nil
    forgetUnusedTables(capture)
  }

  /// Tables that no list reads any more are not followed.
  private func forgetUnusedTables(_ capture: ChangeCapture?) {
    guard let capture else { return }
    for number in capture.numbers where shapesByTable[number]?.isEmpty != false {
      shapesByTable[number] = nil
      storages[number] = nil
      capture.unfollow(number)
    }
  }

  // MARK: - The schema

  /// The schema has changed.
  ///
  /// - Parameter isSameFile: whether the former schema was this file's.
  /// - Returns: the shapes whose own tables are others now, or may be.
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
    // Changes of those cannot be told by what was known of them.
    for (number, storage) in storages {
      let now = schema.table(storage.table.name)?.storage
      if now?.table.definition != storage.table.definition { storages[number] = nil }
    }
    forgetUnusedTables(capture)
    return outdated
  }

  /// The connection is about to be closed, or left to another file's: what was compiled on it is of no use any more.
  ///
  /// - Returns: the shapes that were in use.
  func connectionCloses() -> [QueryShape] {
    let outdated = Array(shapes.values)
    for shape in outdated { outdate(shape) }
    shapes = [:]
    shapesByTable = [:]
    storages = [:]
    shapesOfEveryCommit = [:]
    return outdated
  }

  /// Nothing of the shape is run any more. Its lists stay as they are until they have another one.
  private func outdate(_ shape: QueryShape) {
    shape.isOutdated = true
    shapesOfEveryCommit[ObjectIdentifier(shape)] = nil
    if let query = shape.lists.values.first?.query { shapes[query.withoutValues] = nil }
  }
}

extension Query {
  /// What the query's shape is a part of, whatever the schema: the same for everyone who asks it.
  var text: Query {
    var query = withoutValues
    query.access.read = []
    return query
  }

  /// The query with nothing in the place of its parameters' values: what its shape is known by.
  var withoutValues: Query {
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
