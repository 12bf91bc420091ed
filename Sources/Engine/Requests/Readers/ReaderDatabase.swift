import CSQLite
package import ChangeCapture
package import Following
package import Ground
package import LiveQuery
import QueryCompiler
import RankedCollections
package import Store

/// A reader's connection, and the queries compiled on it.
///
/// Owner: the reader's thread. Used within a read transaction (`snapshot`).
package final class ReaderDatabase: FileConnection {
  package var file: FileIdentity? { database.file }
  package var files: WALFiles { database.files }
  package var isOverwritten: Bool { database.isOverwritten }
  package var staleGeneration: UInt64? { database.staleGeneration }
  package func noteOverwritten(_ staleGeneration: UInt64?) { database.noteOverwritten(staleGeneration) }
  package func noteReportedWrite() { database.noteReportedWrite() }
  package var isUseless: Bool { database.isUseless }
  // Declared first, so that they are deallocated before the connection.
  private var checkers: [RoleSchemas.Key?: FragmentChecker] = [:]
  private let access: AccessRules
  /// The tables as each role sees them.
  private var roles: RoleSchemas
  private let database: OpenDatabase
  package var connection: DatabaseConnection { database.connection }
  /// Statements of the queries run last, oldest first.
  private var statements: [(compiled: CompiledQuery, statements: QueryStatements)] = []
  private static let mostStatements = 32
  /// The number of the schema that was read; nil if no schema was read.
  private var schemaVersion: Int64?

  private let path: String
  private let clock: MonotonicClock
  private let slow: SlowQueries

  init(
    path: String, _ access: AccessRules, clock: MonotonicClock, slow: SlowQueries, readsPosition: Bool
  ) throws {
    self.slow = slow
    database = try OpenDatabase(path: path, ChangeCapture.Settings(), clock: clock, readsPosition: readsPosition)
    self.path = path
    self.access = access
    roles = RoleSchemas(access, .empty)
    self.clock = clock
  }

  /// Frees memory that only speeds up repeated queries. To be called outside a transaction.
  func releaseMemory() {
    statements = []
    connection.releasePages()
    for checker in checkers.values { checker.releasePages() }
  }

  /// Runs `body` in one read transaction. Reads the schema first, if it has changed.
  func snapshot(_ body: () throws -> Void) throws {
    _ = connection.restoreSharedMemory()
    try connection.snapshot {
      if connection.schemaVersion != schemaVersion {
        statements = []
        database.schema = try connection.readSchema()
        checkers = [:]
        roles = RoleSchemas(access, database.schema)
        schemaVersion = connection.schemaVersion
      }
      try body()
    }
  }

  /// Compiles a query if necessary, runs it, and reads the wanted contents.
  package func run(_ request: RunRequest, _ interruption: Interruption) throws(FreshetError) -> RunResult {
    let start = clock.now
    defer { if !interruption.isPostponed { slow.note(request.query, clock.now - start) } }
    return try connection.deadline.limited(to: request.timeout, interruption: interruption) {
      () throws(FreshetError) in
      if let known = request.compiled { return try run(request, as: known) }
      let compiled = try compile(request.query)
      do throws(FreshetError) { return try run(request, as: compiled) } catch
        where error.code == .duplicateKey && compiled.hasHiddenRows
      {
        return try run(request, as: compiled.runAgain(because: CompiledQuery.hiddenDuplicates))
      }
    }
  }

  private func run(_ request: RunRequest, as compiled: CompiledQuery) throws(FreshetError) -> RunResult {
    let start = clock.now
    let reader = try reader(compiled, request)
    if let memory = request.before?.memory { reader.memory = memory }
    let fetched = try reader.run(into: request.before?.editor, keepingContents: request.wanted?.rowsToKeep ?? 0)
    var contents: (WantedContents, PackedRows)?
    if let wanted = request.wanted {
      let tree = fetched.editor.tree.rows(at: compiled.shown)
      let kept = fetched.contents(at: wanted.range(total: tree.count), after: compiled.shown.lowerBound)
      if let kept { contents = (wanted, kept) } else { contents = (wanted, try reader.contents(of: wanted, in: tree)) }
    }
    if fetched.editor.tree.count >= ReaderSettings.largeFrom { connection.releasePages() }
    return RunResult(
      compiled: compiled, fetched: fetched, contents: contents, place: connection.place,
      duration: clock.now - start)
  }

  /// Reads a version's contents, or runs its query if the file has changed.
  package func read(_ request: ReadRequest, _ interruption: Interruption) throws(FreshetError) -> ReadResult {
    guard let compiled = request.run.compiled else { throw FreshetError(.internal, "a query that was not compiled") }
    // Contents that are kept do not depend on the file's present state.
    if !compiled.isRefetched, !connection.place.isSame(as: request.place) {
      return .moved(try run(request.run, interruption))
    }
    let start = clock.now
    defer { if !interruption.isPostponed { slow.note(request.run.query, clock.now - start) } }
    return try connection.deadline.limited(to: request.run.timeout, interruption: interruption) {
      () throws(FreshetError) in
      let reader = try reader(compiled, request.run)
      if let memory = request.run.before?.memory { reader.memory = memory }
      return .contents(try reader.contents(of: request.wanted, in: request.tree))
    }
  }

  /// Compares a version with its query's result in the same state.
  package func check(_ request: CheckRequest, _ interruption: Interruption) throws(FreshetError) -> CheckResult {
    guard let compiled = request.run.compiled, connection.place.isSame(as: request.place) else { return .moved }
    return try connection.deadline.limited(to: request.run.timeout, interruption: interruption) {
      () throws(FreshetError) in
      let reader = try reader(compiled, request.run)
      let divergence: ResultDivergence?
      if let before = request.run.before {
        reader.memory = before.memory
        divergence = try reader.confirm(before.editor, request.alongside)
      } else {
        divergence = try reader.suspect(request.tree, request.alongside)
      }
      return divergence.map { .differs($0) } ?? .agrees
    }
  }

  /// Compiles a query for the transaction's schema.
  package func recompile(_ query: Query) throws(FreshetError) -> Recompilation {
    do throws(FreshetError) {
      if try roles.schema(for: query.access).narrowed(query).access.read != query.access.read {
        throw FreshetError(.schemaChanged, "what may be read of a table depends on other claims now: ask again")
      }
      return Recompilation(compiled: .success(try compile(query)), place: connection.place)
    } catch {
      if !error.isFinal { throw error }
      return Recompilation(compiled: .failure(error), place: connection.place)
    }
  }

  private func compile(_ query: Query) throws(FreshetError) -> CompiledQuery {
    try QueryCompiler.compile(query, checker: try checker(for: query.access))
  }

  /// The fragment checker of a role, on a connection of its own until the schema changes.
  private func checker(for access: Query.Access) throws(FreshetError) -> FragmentChecker {
    let key = RoleSchemas.Key(access)
    if let known = checkers[key] { return known }
    let role = try roles.schema(for: access)
    let location: String
    do throws(SQLiteFailure) { location = try ReadOnlyFile.location(path) } catch {
      throw FreshetError(unreadable: error)
    }
    let checker = try FragmentChecker(path: location, role: role)
    checkers[key] = checker
    return checker
  }

  /// The tables that a role may read.
  package func listing(for access: Query.Access) throws(FreshetError) -> [DatabaseTable] {
    try checker(for: access).listing()
  }

  package func explain(
    _ query: Query, slowness: String?, followedOtherwise: Bool, forms: [String: CaptureForm], timeout: Nanoseconds,
    _ interruption: Interruption
  ) throws(FreshetError) -> Explanation {
    try connection.deadline.limited(to: timeout, interruption: interruption) { () throws(FreshetError) in
      var compiled = try compile(query)
      if let slowness {
        compiled = compiled.runAgain(because: slowness)
      } else if followedOtherwise, let other = compiled.otherwise {
        compiled = other
      }
      return try compiled.explanation(checker: try checker(for: query.access), forms: forms)
    }
  }

  private func reader(_ compiled: CompiledQuery, _ request: RunRequest) throws(FreshetError) -> ResultReader {
    request.settings.reader(try statements(of: compiled), compiled.values(of: request.query))
  }

  private func statements(of compiled: CompiledQuery) throws(FreshetError) -> QueryStatements {
    if let place = statements.firstIndex(where: { $0.compiled === compiled }) {
      let known = statements.remove(at: place)
      statements.append(known)
      return known.statements
    }
    let made = try QueryStatements(compiled, connection: connection.raw, encoding: connection.encoding)
    if statements.count == Self.mostStatements { statements.removeFirst() }
    statements.append((compiled, made))
    return made
  }
}

extension ResultReader {
  func contents(of wanted: WantedContents, in tree: SectionedTree) throws(FreshetError) -> PackedRows {
    let range = wanted.range(total: tree.count)
    var rows: [SectionedTree.Row] = []
    rows.reserveCapacity(range.count)
    tree.forEachRow(in: range) { rows.append($0) }
    return try contents(of: rows, in: tree)
  }
}

extension FreshetError {
  /// Whether a retry cannot help, or would take too much from the other lists.
  package var isFinal: Bool {
    [ErrorCode.timeout, .noSuchTable, .noSuchColumn, .badQuery, .notAllowed, .schemaChanged, .tooLarge]
      .contains(code)
  }
}
