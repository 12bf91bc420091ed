import CSQLite
package import LiveQuery
import Store

/// Compiles clients' SQL on a connection of its own, under SQLite's authorizer, before any other connection gets it.
///
/// It also finds the collation of an expression, which only SQLite knows, in the program that SQLite compiles for
/// `count(DISTINCT +(expression))`.
///
/// Owner: one thread at a time. Clients' SQL is never run here, except EXPLAIN.
package final class FragmentChecker {
  private let opened: Connection
  private var connection: OpaquePointer { opened.raw }
  private let path: String
  private let audit: StatementAudit
  /// The tables as the client may see them.
  var role: RoleSchema { audit.role }
  /// Statements that read the schema's number, and any table: see `refreshSchema`.
  private var schemaReaders: (number: PreparedStatement, table: PreparedStatement)?
  /// The number of the schema whose virtual tables are connected.
  private var connectedSchema: Int64?

  /// The weight of the current query's statements together.
  private(set) var weight = StatementWeight()

  struct ColumnRead: Hashable {
    var table: String
    /// The column; empty if the statement only counts the table's rows.
    var column: String
  }

  /// - Parameters:
  ///   - path: the path of the database, or what `ReadOnlyFile.location` returns for it.
  ///   - role: the tables as the client may see them, in the file's present schema.
  package init(path: String, role: RoleSchema) throws(FreshetError) {
    audit = StatementAudit(role)
    self.path = path
    do throws(SQLiteFailure) { opened = try Connection(path) } catch {
      throw FreshetError(.internal, "cannot open the database: \(error.message)")
    }
    // As on connections that run queries, "name" is never read as a text.
    sqlite_refuse_quoted_strings(opened.raw)
    do throws(SQLiteFailure) {
      try ConnectionLimits.apply(to: connection, checks: true)
      let modules = try PreparedStatement(connection, "SELECT name FROM pragma_module_list", isPersistent: false)
      while try modules.step() { audit.modules.insert(modules.text(0)?.lowercased() ?? "") }
      for shadow in role.shadows.values.sorted(by: { $0.name < $1.name }) {
        try PreparedStatement.run(connection, shadow.viewSQL)
      }
    } catch {
      throw FreshetError(.internal, "cannot open the database: \(error.message)")
    }
    sqlite3_set_authorizer(connection, authorizeStatement, Unmanaged.passUnretained(audit).toOpaque())
    // The schema is read now, so that the first query need not wait for it. An error is reported by the next request.
    try? refreshSchema()
  }

  /// Frees cached pages that SQLite does not need.
  package func releasePages() { sqlite3_db_release_memory(connection) }

  /// Reads the schema again if it has changed. To be called before a query is compiled, because SQLite compiles
  /// statements by the schema that the connection knows, however old, and only running one refreshes it.
  func refreshSchema() throws(FreshetError) {
    audit.isTrusted = true
    defer { audit.isTrusted = false }
    do throws(SQLiteFailure) {
      if schemaReaders == nil {
        schemaReaders = (
          number: try PreparedStatement(connection, "PRAGMA main.schema_version"),
          table: try PreparedStatement(connection, "SELECT 1 FROM main.sqlite_master LIMIT 1")
        )
      }
      guard let (number, table) = schemaReaders else { return }
      defer {
        number.reset()
        table.reset()
      }
      // The number is read first, so that the schema that the connection then knows is not older than the number.
      let version = try RollbackJournal.passing(path) { () throws(SQLiteFailure) in
        number.reset()
        return try number.step() ? number.integer(0) : nil
      }
      _ = try table.step()
      if version == nil || version != connectedSchema { connectVirtualTables() }
      connectedSchema = version
    } catch { throw FreshetError(queryFailure: error, place: nil) }
  }

  /// Whether a statement of the server returns a row in the file's present state.
  func givesRow(_ sql: String) throws(FreshetError) -> Bool { try firstInteger(sql) != nil }

  /// The first column of the first row that a statement of the server returns in the file's present state, as an
  /// integer; nil if it returns no rows.
  func firstInteger(_ sql: String) throws(FreshetError) -> Int64? {
    audit.isTrusted = true
    defer { audit.isTrusted = false }
    do throws(SQLiteFailure) {
      return try RollbackJournal.passing(path) { () throws(SQLiteFailure) in
        let statement = try PreparedStatement(connection, sql, isPersistent: false)
        return try statement.step() ? statement.integer(0) : nil
      }
    } catch { throw FreshetError(queryFailure: error, place: nil) }
  }

  /// Connects virtual tables. When they are first used they read and write tables of their own, which the authorizer
  /// must not take for the client's actions.
  private func connectVirtualTables() {
    let names = role.whole.tables.filter { $0.kind == .virtual }.map { "main.\(quotedIdentifier($0.name))" }
    for name in names + AllowedFunctions.tables {
      // If the module of a table is unknown, queries that read the table report the error.
      _ = try? PreparedStatement(connection, "SELECT 1 FROM \(name)", isPersistent: false)
    }
  }

  /// Compiles the statements of a query within the time for one query.
  func compilingQuery<Result>(_ body: () throws(FreshetError) -> Result) throws(FreshetError) -> Result {
    weight = StatementWeight()
    let budget = Budget.beginQuery()
    defer { budget.end() }
    return try body()
  }

  /// Compiles a statement.
  ///
  /// - Parameter place: the fragment that is checked, for messages; nil for the whole query.
  /// - Returns: the statement, and the columns that it reads.
  @discardableResult
  func compile(
    _ sql: String, place: String?, mayChange: Bool = false, for purpose: StatementAudit.Purpose = .asking
  ) throws(FreshetError) -> (statement: PreparedStatement, reads: Set<ColumnRead>) {
    if sql.utf8.count > ConnectionLimits.sql {
      throw FreshetError(.tooLarge, "\(place ?? "the query") is longer than \(ConnectionLimits.sql) bytes")
    }
    audit.begin(purpose, mayChange: mayChange)
    do throws(SQLiteFailure) {
      let budget = Budget.beginStatement(sql)
      defer { budget.end() }
      let statement = try PreparedStatement(connection, sql, isPersistent: false)
      weight.formUnion(audit.weight)
      return (statement, audit.reads)
    } catch {
      if let denial = audit.denial {
        throw FreshetError(denial.code, (place.map { "\($0): " } ?? "") + denial.message)
      }
      throw FreshetError(queryFailure: error, place: place)
    }
  }

  /// Adds the name that was probably meant to an error for an unknown table. Other errors keep SQLite's message.
  ///
  /// - Parameter from: `from` as the client has written it. If it is a keyword of SQL, SQLite reports a syntax error.
  func withHint(_ error: FreshetError, from: String) -> FreshetError {
    let names = role.visible.tables.map(\.name).filter { name in
      !["sqlite_", "_freshet_"].contains { name.hasPrefix($0) }
    }
    if error.code == .badQuery, sqlite3_keyword_check(from, Int32(from.utf8.count)) != 0 {
      if names.contains(where: { isSameName($0, from) }) {
        return FreshetError(.badQuery, "from: \(from) is a word of SQL: write \(quotedIdentifier(from))")
      }
      return FreshetError(.noSuchTable, "from: no such table: \(from)\(Spelling.hint(for: from, of: names) ?? "")")
    }
    guard error.code == .noSuchTable, let start = error.message.firstRange(of: "no such table: ")?.upperBound else {
      return error
    }
    let word = String(error.message[start...])
    return FreshetError(error.code, error.message + (Spelling.hint(for: word, of: names) ?? ""))
  }

  /// SQLite's message for the error in the filter on a table; nil if there is no error or no filter.
  package func problem(ofFilterOn table: String) -> FreshetError? {
    guard let shadow = role.shadows[table.lowercased()], let filter = shadow.filter else { return nil }
    do throws(FreshetError) {
      _ = try compile(shadow.filterSQL(filter.text), place: nil, for: .filtering)
      return nil
    } catch { return error }
  }

  /// Compiles an operator's filter, in a statement that may read everything.
  func compileFilter(_ sql: String) throws(FreshetError) -> Set<ColumnRead> {
    let reads = try compile(sql, place: nil, for: .filtering).reads
    audit.filterReaders.formUnion(audit.readers)
    return reads
  }

  /// The tables that the client may see. Views lack withheld columns; views of hidden tables are left out.
  package func listing() throws(FreshetError) -> [DatabaseTable] {
    var tables = role.visible.listing
    for (index, table) in tables.enumerated().reversed() where table.kind == DatabaseSchema.Kind.view.rawValue {
      do throws(FreshetError) {
        let names = try compile("SELECT * FROM \(quotedIdentifier(table.name))", place: nil).statement.columnNames
        tables[index].columns.removeAll { column in !names.contains { isSameName($0, column.name) } }
      } catch {
        if error.code.isRetryable { throw error }
        tables.remove(at: index)
      }
    }
    return tables.withoutUnlisted()
  }

  /// The collation under which SQLite sorts an expression.
  ///
  /// Only SQLite knows the collation, which depends on declarations of columns and on the operands. SQLite shows it
  /// only in programs that compare: in the key of the table that DISTINCT uses. Unary plus keeps the collation and
  /// prevents the use of an index. Two more such tables with a known collation mark the place in the program.
  func collation(
    of expression: String, from: String, place: String, mayChange: Bool,
    for purpose: StatementAudit.Purpose = .asking
  ) throws(FreshetError) -> FieldOrder.Collation {
    let marks = ["count(DISTINCT 'a' COLLATE RTRIM)", "count(DISTINCT 'b' COLLATE RTRIM)"]
    let sql = "EXPLAIN SELECT \(marks[0]), count(DISTINCT +(\(expression))), \(marks[1]) FROM \(from)"
    let (statement, _) = try compile(sql, place: place, mayChange: mayChange, for: purpose)
    var keys: [String?] = []
    do throws(SQLiteFailure) {
      while try statement.step() {
        let opcode = statement.text(1)
        if opcode != "Explain" { keys.append(opcode == "OpenEphemeral" ? statement.text(5) : nil) }
      }
    } catch { throw FreshetError(queryFailure: error, place: place) }
    let middle = keys.indices.dropFirst().dropLast().first {
      keys[$0 - 1] == "k(1,RTRIM)" && keys[$0 + 1] == "k(1,RTRIM)"
    }
    // A key is "k(1,B)" or "k(1,NOCASE)", for example.
    let inner = middle.flatMap { keys[$0] }?.dropFirst("k(1,".count).dropLast() ?? ""
    if inner == "B" { return .binary }
    let known = FieldOrder.Collation(rawValue: inner.uppercased()) ?? ForeignParts.collation(String(inner))
    guard let known else {
      throw .badQuery("\(place) sorts under \(inner), a collation that is not BINARY, NOCASE or RTRIM")
    }
    return known
  }

  /// How SQLite runs a statement: the lines of EXPLAIN QUERY PLAN, indented by depth.
  func plan(of sql: String, mayChange: Bool) throws(FreshetError) -> [String] {
    let (statement, _) = try compile("EXPLAIN QUERY PLAN \(sql)", place: nil, mayChange: mayChange)
    var depths: [Int64: Int] = [0: -1]
    var lines: [String] = []
    do throws(SQLiteFailure) {
      while try statement.step() {
        let depth = (depths[statement.integer(1)] ?? -1) + 1
        depths[statement.integer(0)] = depth
        lines.append(String(repeating: "  ", count: depth) + (statement.text(3) ?? ""))
      }
    } catch { throw FreshetError(queryFailure: error, place: nil) }
    return lines
  }
}
