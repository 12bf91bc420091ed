import GRDB
import LiveQuery
import Logging
import Store

// The file and its schema, which others change.
extension WorkerLoop {
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
      let opened = try OpenDatabase(path: path)
      // What has statements on the old connection keeps it open, until it is compiled for the new one in the next turn.
      shapes = [:]
      shapesByTable = [:]
      database = opened
      keptSchemaVersion = -1
      mustTurn = true
      if isFirst { return }
      logger.notice("the database file is another one now", metadata: ["path": "\(path)"])
      output.epochChanged()
    } catch {
      logger.error("the database cannot be opened", metadata: ["path": "\(path)", "error": "\(error)"])
    }
  }

  /// The -wal or -shm was deleted: the connection goes on in files without a name. SQLite takes up others only when nothing of
  /// this process has the database open any more.
  private func close(_ files: WALFiles) {
    logger.warning(
      "the -wal or -shm was deleted while the database was open", metadata: ["path": "\(configuration.path)"])
    for shape in Array(shapes.values) + queries.values.map(\.shape) { shape.close() }
    shapes = [:]
    shapesByTable = [:]
    database = nil
    lostFiles = LostFiles(files, isEmptied: false)
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

  /// The schema is another one: statements are compiled anew, and whatever may have changed with it is read again.
  func readSchema() throws {
    guard var database else { return }
    database.schemaVersion = try database.connection.schemaVersion()
    (database.log, database.sequence) = try openLog(database)
    try database.connection.withDatabase { db in
      let followed = database.log == nil ? [] : try ChangeLog.followedTables(db)
      database.schema = try DatabaseSchema.read(db, followed: followed)
    }
    database.checker.schema = database.schema
    self.database = database
    advanceCommit()
    shapes = [:]
    shapesByTable = [:]
    for query in queries.values { recompile(query) }
  }

  /// The log, and up to where it goes; nil when the database is not tracked.
  private func openLog(_ database: OpenDatabase) throws -> (ChangeLogReader?, Int64) {
    do throws(StoreError) {
      var log = database.log
      if log == nil { log = try ChangeLogReader(connection: database.connection.raw) }
      return (log, try log?.newest() ?? 0)
    } catch {
      guard error.code == ErrorCode.notTracked else { throw error }
      return (nil, 0)
    }
  }

  private func recompile(_ query: FollowedQuery) {
    do throws(FreshetError) {
      let isSame = try query.recompile(try shape(of: query.query), readerSettings)
      query.pending = .init(commit: commit, due: 0)
      bringToNow(query)
      // The file's schema may have changed in ways that this query never sees.
      if isSame || query.pending != nil { return }
      for subscription in query.subscriptions.values { startOver(subscription) }
    } catch  where !error.isFinal {
      // It is compiled when the database can be read again.
      fail(query, error, commit)
      database?.schemaVersion = -1
      mustTurn = true
    } catch {
      end(query, FreshetError(.schemaChanged, "the schema has changed: \(error.message)"))
    }
  }

  /// What queries of this one's shape share: what is there already, or compiled now.
  func shape(of query: Query) throws(FreshetError) -> QueryShape {
    let key = query.withoutValues
    if let known = shapes[key] { return known }
    guard let database else { throw FreshetError(.overloaded, "the database is not there") }
    let compiled = try QueryCompiler.compile(query, schema: database.schema, checker: database.checker)
    let statements = try QueryStatements(
      compiled, connection: database.connection.raw, encoding: database.connection.encoding)
    shapeCount += 1
    let shape = QueryShape(statements, number: shapeCount, connection: database.connection.raw)
    shapes[key] = shape
    for name in shape.tableNames { shapesByTable[name, default: [:]][ObjectIdentifier(shape)] = shape }
    return shape
  }

  func forget(_ shape: QueryShape, _ key: Query) {
    if shapes[key] === shape { shapes[key] = nil }
    for name in shape.tableNames { shapesByTable[name]?[ObjectIdentifier(shape)] = nil }
  }

  /// After a turn: tables whose schema was changed are tracked as they are now, when that was asked for.
  func keepTracked() {
    guard configuration.keepsTracked, let schemaVersion = database?.schemaVersion, schemaVersion != keptSchemaVersion
    else { return }
    // Whoever makes a new file is not to be held up before there is something to track.
    if database?.schema.tables.isEmpty == true { return }
    // A log that was taken away meanwhile is somebody's wish.
    let isNew = keptSchemaVersion == -1
    let mustInstall = isNew && database?.log == nil
    keptSchemaVersion = schemaVersion
    do {
      var settings = Configuration()
      settings.busyMode = .timeout(5)
      let queue = try DatabaseQueue(path: configuration.path, configuration: settings)
      defer { try? queue.close() }
      let hasInstalled = try queue.inDatabase { db in
        if mustInstall { _ = try ChangeLog.install(db) }
        return try mustInstall || ChangeLog.refreshIfNeeded(db)
      }
      if hasInstalled {
        logger.notice("the change capture was brought up to date with the schema")
        mustTurn = true
      }
    } catch {
      logger.error("the change capture cannot be brought up to date", metadata: ["error": "\(error)"])
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
