import ChangeCapture
import Following
import LiveQuery
import Logging
import QueryCompiler
import Store

/// The tables that the feed follows, and the views of its readers, on one connection.
///
/// Owner: the feed's thread.
final class FeedTables {
  let connection: DatabaseConnection
  private(set) var schema = DatabaseSchema.empty
  private let path: String
  private let rules: AccessRules
  private var roles: RoleSchemas
  private var checkers: [RoleSchemas.Key?: FragmentChecker] = [:]
  private var byName: [String: FeedTable] = [:]
  private(set) var views: [ChangeView] = []
  /// Lower-case names of tables that the feed cannot follow, and that were logged already.
  private var leftOut: Set<String> = []
  private let logger: Logger

  init(_ connection: DatabaseConnection, path: String, _ rules: AccessRules, _ logger: Logger) {
    self.logger = logger
    self.connection = connection
    self.path = path
    self.rules = rules
    roles = RoleSchemas(rules, .empty)
  }

  var isEmpty: Bool { byName.isEmpty }
  /// Whether changed rows of some table must be looked up.
  var mustLookUp: Bool { byName.values.contains { $0.row.isLookedUp } }

  func table(_ number: Int) -> FeedTable? { byName.values.first { $0.number == number } }

  /// Called when all followed tables have been read, at an entry of the log.
  ///
  /// - Parameter last: the number of that entry.
  func noteRead(upTo last: UInt64) {
    for table in byName.values where table.knownSince == nil {
      switch connection.capture.form(ofTable: table.name) {
      case .reading: continue
      case .rows, .pages, .comparison, .none: table.knownSince = last
      }
    }
  }

  /// For each table, by name, the number of the log's entry since which it was followed.
  var known: [String: UInt64] {
    var known: [String: UInt64] = [:]
    for (name, table) in byName { known[name] = table.knownSince }
    return known
  }

  func table(named name: String) -> FeedTable? { byName[name.lowercased()] }

  // MARK: - Schema

  /// Adopts a new schema.
  ///
  /// - Returns: those of the tables that readers see which were altered, dropped or created.
  func take(_ schema: DatabaseSchema) -> [FeedTable] {
    self.schema = schema
    roles = RoleSchemas(rules, schema)
    checkers = [:]
    var altered: [FeedTable] = []
    for view in views { view.hide() }
    for (name, table) in byName where !table.isSame(as: schema.table(table.name)) {
      altered.append(table)
      table.close()
      byName[name] = nil
      if schema.table(table.name)?.storage == nil { connection.capture.unfollow(table.number) }
    }
    let known = Set(byName.values.map(\.number)).union(altered.map(\.number))
    for view in views { view.failure = failure(of: view) }
    return altered + byName.values.filter { !known.contains($0.number) }
  }

  private func failure(of view: ChangeView) -> FreshetError? {
    do throws(FreshetError) { try open(view, isFirst: false) } catch { return error }
    return nil
  }

  /// Reads the first schema, and follows the tables that another process has followed.
  func restore(_ known: [String: UInt64]) {
    for (name, since) in known { addTable(named: name)?.knownSince = since }
  }

  // MARK: - Views

  /// The view of readers with the same request and the same rights.
  ///
  /// - Throws: the error in the request.
  func view(_ request: ChangesRequest, _ access: Query.Access) throws(FreshetError) -> ChangeView {
    if let known = views.first(where: { $0.isSame(as: request, access) }) { return known }
    let view = ChangeView(request, access)
    try open(view, isFirst: true)
    views.append(view)
    return view
  }

  func forget(_ view: ChangeView) {
    view.hide()
    views.removeAll { $0 === view }
  }

  /// - Parameter isFirst: whether all tables named in the request must exist.
  private func open(_ view: ChangeView, isFirst: Bool) throws(FreshetError) {
    let role = try roles.schema(for: view.access)
    let checker = try checker(for: view.access, role)
    let all = role.visible.tables.filter { $0.kind == .table && $0.storage != nil && $0.key != nil }.map(\.name)
    var shown: [TableView] = []
    for name in view.request.tables ?? all {
      // A table that was deleted may be created again.
      if !isFirst, role.visible.table(name) == nil { continue }
      do throws(FreshetError) {
        let table = try self.view(of: name, view, role, checker)
        if !shown.contains(where: { $0.table === table.table }) { shown.append(table) }
      } catch {
        // If the request is for all tables, those that cannot be read are left out.
        if view.request.names(name) || error.code.isRetryable { throw error }
        noteLeftOut(name, error)
      }
    }
    view.show(shown)
  }

  private func view(
    of name: String, _ view: ChangeView, _ role: RoleSchema, _ checker: FragmentChecker
  ) throws(FreshetError) -> TableView {
    // The checker may use a newer schema than the tick.
    let columns = role.visible.table(name)?.visibleNames ?? []
    let query = role.narrowed(view.request.query(of: name, columns: columns, view.access))
    let asked = try QueryCompiler.compileChanges(query, checker: checker)
    guard let table = addTable(named: name) else { throw .badQuery("\(name) is no table that can be followed") }
    return try TableView(table, asked, connection)
  }

  private func noteLeftOut(_ name: String, _ error: FreshetError) {
    guard leftOut.insert(name.lowercased()).inserted else { return }
    logger.warning(
      "changes of a table cannot be read, and are left out",
      metadata: ["table": "\(name)", "error": "\(error.message)"])
  }

  @discardableResult
  private func addTable(named name: String) -> FeedTable? {
    if let known = byName[name.lowercased()] { return known }
    guard let table = schema.table(name), let made = FeedTable(table, connection) else { return nil }
    byName[name.lowercased()] = made
    return made
  }

  private func checker(for access: Query.Access, _ role: RoleSchema) throws(FreshetError) -> FragmentChecker {
    let key = RoleSchemas.Key(access)
    if let known = checkers[key] { return known }
    let location: String
    do throws(SQLiteFailure) { location = try ReadOnlyFile.location(path) } catch {
      throw FreshetError(unreadable: error)
    }
    let checker = try FragmentChecker(path: location, role: role)
    checkers[key] = checker
    return checker
  }

  /// Releases statements and virtual tables, before the connection is closed.
  func close() {
    for view in views { view.hide() }
    for table in byName.values { table.close() }
    byName = [:]
    checkers = [:]
  }
}
