import ChangeCapture
import LiveQuery
import Logging
import QueryCompiler
import Store

// The file and its schema, which others change.
extension Follower {
  /// Takes up a file that has appeared, or has taken the place of the one that is open.
  func openIfReplaced() {
    let path = configuration.path
    guard let file = FileIdentity(path: path) else { return }
    if let connection = database?.connection, file == connection.file {
      if connection.files.state == .same { return }
      close(connection.files)
    }
    if let lostFiles, !lostFiles.mayOpen, !lostFiles.isOverdue { return }
    lostFiles = nil
    do {
      let isFirst = database == nil && queries.isEmpty
      let opened = try open()
      // What has statements on the old connection keeps it open, until it is compiled for the new one in the next turn.
      shapes = [:]
      shapesByTable = [:]
      shapesOfEveryCommit = [:]
      database = opened
      mustTurn = true
      if isFirst { return }
      logger.notice("the database file is another one now", metadata: ["path": "\(path)"])
      output.epochChanged()
    } catch {
      logger.error("the database cannot be opened", metadata: ["path": "\(path)", "error": "\(error)"])
    }
  }

  func open() throws -> OpenDatabase {
    var settings = ChangeCapture.Settings()
    settings.memoryLimit = configuration.captureBytes
    return try OpenDatabase(path: configuration.path, settings, clock: clock)
  }

  /// The -wal or -shm was deleted: the connection goes on in files without a name. SQLite takes up others only when nothing of
  /// this process has the database open any more.
  private func close(_ files: WALFiles) {
    logger.warning(
      "the -wal or -shm was deleted while the database was open", metadata: ["path": "\(configuration.path)"])
    for shape in Array(shapes.values) + queries.values.map(\.shape) { shape.close() }
    shapes = [:]
    shapesByTable = [:]
    shapesOfEveryCommit = [:]
    database = nil
    lostFiles = LostFiles(files, isEmptied: false, clock: clock)
    readers.releaseFiles()
    output.filesReleased()
  }

  /// What keeps lists from being read, in a turn that could be begun; nil: nothing.
  var readingFailure: FreshetError? {
    // What is open can be read without its name, and what SQLite has in memory without the file.
    if FileIdentity(path: configuration.path) == nil { return FreshetError(.overloaded, "the database is not there") }
    if queries.isEmpty || queries.values.contains(where: { !$0.hasFailed }) { return nil }
    return FreshetError(.overloaded, "no list can be read at the moment")
  }

  /// Before shared memory is touched after a wait.
  func restoreSharedMemory() {
    guard let connection = database?.connection, !connection.restoreSharedMemory(), !hasWarnedOfSharedMemory else {
      return
    }
    hasWarnedOfSharedMemory = true
    logger.error(
      "somebody shortened the -shm, and it cannot be made longer again: the server will end with SIGBUS",
      metadata: ["path": "\(configuration.path)"])
  }

  /// The schema is another one: statements are compiled anew, and what may have changed with it is read again.
  func recompile(for schema: DatabaseSchema, isSameFile: Bool) {
    let before = database?.schema
    database?.schema = schema
    database?.checker.schema = schema
    shapes = [:]
    shapesByTable = [:]
    storages = [:]
    shapesOfEveryCommit = [:]
    let hasSameViews = isSameFile && before?.viewDefinitions == schema.viewDefinitions
    for query in queries.values { recompile(query, mayBeUnaffected: hasSameViews) }
    forgetUnusedTables()
  }

  private func recompile(_ query: FollowedQuery, mayBeUnaffected: Bool) {
    do throws(FreshetError) {
      let outcome = try query.recompile(
        try shape(of: query.query), readerSettings, mayBeUnaffected: mayBeUnaffected && query.isCompiled)
      query.isCompiled = true
      // The tick tells what changed in its tables.
      if outcome == .unaffected { return }
      cancelRun(of: query)
      query.phase = .stale(commit: query.shownCommit ?? commit, due: .distantPast)
      scheduleRun(of: query)
      // The file's schema may have changed in ways that this query never sees.
      if outcome == .sameColumns { return }
      for subscription in query.subscriptions.values { startOver(subscription) }
    } catch  where !error.isFinal {
      // It is compiled when the database can be read again.
      fail(query, error, commit)
      query.isCompiled = false
      database?.connection.capture.forgetSchema()
      mustTurn = true
    } catch {
      end(query, FreshetError(.schemaChanged, "the schema has changed: \(error.message)"))
    }
  }

  /// What queries of this one's shape share: what is there already, or compiled now.
  func shape(of query: Query) throws(FreshetError) -> QueryShape {
    if let known = shapes[query.withoutValues] { return known }
    guard let database else { throw FreshetError(.overloaded, "the database is not there") }
    return try shape(
      of: query, try QueryCompiler.compile(query, schema: database.schema, checker: database.checker))
  }

  /// - Parameter compiled: what a reader made of the query.
  func shape(of query: Query, _ compiled: CompiledQuery) throws(FreshetError) -> QueryShape {
    let key = query.withoutValues
    if let known = shapes[key] { return known }
    guard let database else { throw FreshetError(.overloaded, "the database is not there") }
    let statements = try QueryStatements(
      compiled, connection: database.connection.raw, encoding: database.connection.encoding)
    shapeCount += 1
    let shape = QueryShape(statements, number: shapeCount, connection: database.connection.raw)
    shapes[key] = shape
    shape.captured = CapturedTables(compiled, database.schema, database.connection.capture)
    for (number, storage) in shape.captured.storages {
      shapesByTable[number, default: [:]][ObjectIdentifier(shape)] = shape
      storages[number] = storage
    }
    if shape.captured.isOfEveryCommit { shapesOfEveryCommit[ObjectIdentifier(shape)] = shape }
    return shape
  }

  func forget(_ shape: QueryShape, _ key: Query) {
    if shapes[key] === shape { shapes[key] = nil }
    for number in shape.captured.storages.keys { shapesByTable[number]?[ObjectIdentifier(shape)] = nil }
    shapesOfEveryCommit[ObjectIdentifier(shape)] = nil
    forgetUnusedTables()
  }

  /// Tables that nobody reads any more are not followed.
  private func forgetUnusedTables() {
    guard let capture = database?.connection.capture else { return }
    for number in capture.numbers where shapesByTable[number]?.isEmpty != false {
      shapesByTable[number] = nil
      storages[number] = nil
      capture.unfollow(number)
    }
  }
}

extension Query {
  /// The query with nothing in the place of its parameters' values: what its shape is known by.
  var withoutValues: Query {
    var query = self
    switch parameters {
    case .none: break
    case .positional(let values): query.parameters = .positional(values.map { _ in .null })
    case .named(let values): query.parameters = .named(values.mapValues { _ in .null })
    }
    return query
  }
}
