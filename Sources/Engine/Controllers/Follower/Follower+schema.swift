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
      giveUpStatements()
      database = opened
      openingFailure = nil
      mustTick = true
      if !isFirst { logger.notice("the database file is another one now", metadata: ["path": "\(path)"]) }
      fileWasOpened(opened.connection.file)
    } catch {
      // Once: it is tried again and again.
      if openingFailure == nil {
        logger.error("the database cannot be opened", metadata: ["path": "\(path)", "error": "\(error)"])
      }
      openingFailure = FreshetError(unreadable: error)
    }
  }

  /// Why no database is open.
  var unavailability: FreshetError { openingFailure ?? .databaseMissing }

  func open() throws -> OpenDatabase {
    var settings = ChangeCapture.Settings()
    settings.memoryLimit = configuration.captureBytes
    return try OpenDatabase(
      path: configuration.path, settings, clock: clock, readsPosition: configuration.readsPosition)
  }

  /// The -wal or -shm was deleted: the connection goes on in files without a name. SQLite takes up others only when nothing of
  /// this process has the database open any more.
  private func close(_ files: WALFiles) {
    logger.warning(
      "the -wal or -shm was deleted while the database was open", metadata: ["path": "\(configuration.path)"])
    giveUpStatements()
    database = nil
    epochs.lost(commits.epoch)
    lostFiles = LostFiles(files, isEmptied: false, clock: clock)
    readers.releaseFiles()
    output.filesReleased()
  }

  /// The connection is about to be closed, or left to another file's: what was compiled on it is of no use any more.
  private func giveUpStatements() {
    for shape in shapes.values { outdate(shape, commits.number) }
    for query in queries.values { query.shape.close() }
    shapes = [:]
    shapesByTable = [:]
    storages = [:]
    shapesOfEveryCommit = [:]
  }

  /// What keeps lists from being read, in a tick that could be begun; nil: nothing.
  var readingFailure: FreshetError? {
    // What is open can be read without its name, and what SQLite has in memory without the file.
    if FileIdentity(path: configuration.path) == nil { return FreshetError.databaseMissing }
    if database == nil, let openingFailure { return openingFailure }
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

  /// What queries of this one's shape share.
  ///
  /// - Parameter compiled: what a reader made of the query.
  func shape(of query: Query, _ compiled: CompiledQuery) throws(FreshetError) -> QueryShape {
    let key = query.withoutValues
    if let known = shapes[key] { return known }
    guard let database else { throw unavailability }
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
    if let job = shape.recompilation {
      readers.cancel(job)
      recompilations[job] = nil
    }
    forgetUnusedTables()
  }

  /// Tables that nobody reads any more are not followed.
  func forgetUnusedTables() {
    guard let capture = database?.connection.capture else { return }
    for number in capture.numbers where shapesByTable[number]?.isEmpty != false {
      shapesByTable[number] = nil
      storages[number] = nil
      capture.unfollow(number)
    }
  }
}

extension Query {
  /// What the query's shape is a part of, whatever the schema: the same for all who ask it.
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
