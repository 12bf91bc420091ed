import ArgumentParser
import Foundation
import LiveQuery
import QueryCompiler
import Server
import Store
import Wire

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check a configuration, and say what each role may do.",
    discussion: """
      freshet check freshet.yaml
      freshet check freshet.yaml --database app.sqlite
      freshet check freshet.yaml --database storage/

      Checks every table, column, filter, query and statement against the database. Nothing is served, and nothing is \
      written. The exit status is 1 when something is wrong.
      """)

  @Argument(help: ArgumentHelp("The configuration file.", valueName: "config"))
  var file = "freshet.yaml"

  @Option(
    help: ArgumentHelp(
      "The SQLite file, or a folder of them; by default the one that the configuration names.", valueName: "db"))
  var database: String?

  func run() throws {
    let configuration: ConfigurationFile
    do { configuration = try ConfigurationFile(path: file) } catch { throw CommandFailure("\(error)") }
    let paths = database.map { [$0] } ?? configuration.database
    if paths.isEmpty { throw CommandFailure("\(file) names no database: say --database") }
    let checks =
      try DatabasePlaces.areSeveral(paths) ? checkAll(paths, configuration) : [check(paths[0], nil, configuration)]
    if let notice = WALResetBug.notice { FileHandle.standardError.write(Data((notice + "\n").utf8)) }
    print(checks.map(\.report).filter { !$0.isEmpty }.joined(separator: "\n"))
    let problems = checks.flatMap(\.problems)
    if !problems.isEmpty { throw CommandFailure(problems.joined(separator: "\n")) }
  }

  private func check(
    _ path: String, _ name: DatabaseName?, _ configuration: ConfigurationFile
  ) throws -> ConfigurationCheck {
    let existing = try DatabaseFile.existing(path)
    var server = ServerConfiguration(database: existing, accessOf: configuration)
    do { try server.set(configuration.door) } catch { throw CommandFailure("\(file): \(error)") }
    if let mistake = server.mistake { throw CommandFailure("\(file): \(mistake)") }
    var check = ConfigurationCheck(configuration, name)
    do { try check.run(existing) } catch let error as FreshetError { throw CommandFailure(error.message) }
    return check
  }

  /// The rights of a role are printed once for all databases of a rule.
  private func checkAll(_ paths: [String], _ configuration: ConfigurationFile) throws -> [ConfigurationCheck] {
    let places: DatabasePlaces
    do { places = try DatabasePlaces(paths) } catch { throw CommandFailure("\(error)") }
    var rules: Set<String> = []
    return try places.names.compactMap { name in
      guard let path = places.path(of: name) else { return nil }
      var check = try check(path, name, configuration)
      if !rules.insert(configuration.access(of: name).place).inserted { check.withholdReport() }
      return check
    }
  }
}

/// Checks a configuration against a database.
private struct ConfigurationCheck {
  private let configuration: ConfigurationFile
  private let access: AccessSettings
  /// The path of `access` in the file.
  private let place: String
  /// Nil: the database is the only one.
  private let database: DatabaseName?
  /// Problems, each with its line in the file.
  private(set) var problems: [String] = []
  private var lines: [String] = []
  var report: String { lines.joined(separator: "\n") }

  init(_ configuration: ConfigurationFile, _ database: DatabaseName?) {
    self.configuration = configuration
    self.database = database
    (access, place) = configuration.access(of: database)
  }

  mutating func withholdReport() { lines = [] }

  /// A parameter that no client can give a value.
  private func undeclared(_ sql: String, _ declared: [PublishedParameter]) -> String? {
    let tokens = SQLTokenizer(sql)
    return tokens.lazy.filter { $0.kind == .parameter }.map { String(tokens.text(of: $0)) }.first { text in
      let name = String(text.dropFirst())
      return !declared.contains { $0.name == name } && !Query.Access.isClaim(name)
    }
  }

  mutating func run(_ path: String) throws {
    let schema = try Connection(path).withRaw { try DatabaseSchema.read($0) }
    let location: String
    let statements: StatementCheck
    do throws(SQLiteFailure) {
      location = try ReadOnlyFile.location(path)
      statements = try StatementCheck(path: location)
    } catch { throw FreshetError(.internal, error.message) }
    if let database { lines.append("\(database):") }
    for statement in access.statements.list {
      for sql in statement.statements.map(\.sql) {
        if let name = undeclared(sql, statement.parameters) {
          add(
            "statements.\(statement.name)",
            "the statement \(statement.name): the parameter \(name) is not declared under parameters")
        }
        if let error = statements.problem(sql) {
          add("statements.\(statement.name).sql", "the statement \(statement.name): \(error.message)")
        }
      }
    }
    if access.roles.isEmpty {
      let report = AccessReport(ServerConfiguration(database: path, accessOf: configuration))
      lines.append("There are no roles: \(report.sentence).")
      check(access.queries.list, for: Query.Access(), RoleSchema(unrestricted: schema), location, "roles", "")
      return
    }
    for (name, role) in access.roles.sorted(by: { $0.key < $1.key }) { check(name, role, schema, location) }
    if access.roles["anonymous"] == nil {
      lines.append("anonymous: who has no token, or one of another role, may do nothing.")
    }
  }

  /// - Parameter path: the path in the file of the wrong setting.
  private mutating func add(_ path: String, _ sentence: String) {
    problems.append(configuration.mistake(at: place + path, (database.map { "\($0): " } ?? "") + sentence))
  }

  private mutating func check(_ name: String, _ role: Role, _ schema: DatabaseSchema, _ location: String) {
    let (place, path) = ("the role \(name)", "roles.\(name)")
    let who =
      name == "anonymous" ? "who has no token, or one of a role that is not here" : "who has a token of this role"
    if configuration.authentication == nil, name != "anonymous" {
      add(path, "no client can have the role \(name): there is no auth, so no token says a role")
    }
    lines.append("\(name): \(who)")
    for (table, rule) in role.tables.tables.sorted(by: { $0.key < $1.key }) {
      guard let found = schema.table(table) else {
        let names = schema.tables.filter { $0.kind != .shadow }.map(\.name)
        add(
          "\(path).tables.\(table)", "\(place): there is no table \(table)\(Spelling.hint(for: table, of: names) ?? "")"
        )
        continue
      }
      for (index, column) in (rule.columns ?? []).enumerated() where !found.hasColumn(column) {
        add(
          "\(path).tables.\(table).columns.\(index)",
          "\(place): \(found.name) has no column \(column)\(Spelling.hint(for: column, of: found.columnNames) ?? "")")
      }
      lines.append("  may read \(sentence(found, rule))")
    }
    do throws(FreshetError) {
      let own = try RoleSchema(role.tables, isPublished: false, schema)
      let published = try RoleSchema(role.tables, isPublished: true, schema)
      checkTables(own, Query.Access(role: name), location, path, place)
      let mine = access.queries.list.filter { role.queries.contains($0.name) }
      check(
        mine.filter { !$0.isUnfiltered }, for: Query.Access(role: name, isPublished: true), published, location,
        path, "\(place), ")
      check(
        mine.filter(\.isUnfiltered), for: Query.Access(), RoleSchema(unrestricted: schema), location, path,
        "\(place), ")
      lines += warnings(of: mine, for: role, schema, location)
    } catch { add(path, "\(place): \(error.message)") }
    lines.append("  may ask \(asked(role))")
    let run =
      role.statements.sorted() + (role.allowsOwnStatements ? ["any statements of their own, over all tables"] : [])
    lines.append("  may write \(run.isEmpty ? "nothing" : run.joined(separator: ", "))")
  }

  /// Warnings of published queries that show a role rows that its own queries would not.
  private func warnings(
    of queries: [PublishedQuery], for role: Role, _ schema: DatabaseSchema, _ location: String
  ) -> [String] {
    let unrestricted = RoleSchema(unrestricted: schema)
    guard !queries.isEmpty, let checker = try? FragmentChecker(path: location, role: unrestricted) else { return [] }
    return queries.flatMap { published -> [String] in
      guard let compiled = try? QueryCompiler.compile(unrestricted.narrowed(published.sample), checker: checker),
        let tables = try? compiled.explanation(checker: checker).tables.map(\.name)
      else { return [] }
      return Set(tables).sorted().compactMap { warning(of: published, reading: $0, for: role) }
    }
  }

  private func warning(of published: PublishedQuery, reading table: String, for role: Role) -> String? {
    guard let rule = role.tables.tables[table.lowercased()] else {
      return "    (the query \(published.name) reads \(table), which this role may not read otherwise)"
    }
    guard published.isUnfiltered, rule.rows != nil else { return nil }
    return
      "    (the query \(published.name) reads all rows of \(table), also those that this role may not read otherwise)"
  }

  private func asked(_ role: Role) -> String {
    let names = role.queries.sorted() + (role.allowsOwnQueries ? ["any queries of their own over these tables"] : [])
    return names.isEmpty ? "nothing" : names.joined(separator: ", ")
  }

  private func sentence(_ table: DatabaseSchema.Table, _ rule: AccessRules.Table) -> String {
    let visible = rule.columns.map { columns in
      table.columnNames.filter { name in columns.contains { isSameName($0, name) } }
    }
    let columns = visible.map { "the columns \($0.joined(separator: ", "))" } ?? "all columns"
    return "\(table.name): \(columns), \(rule.rows.map { "where \($0)" } ?? "all rows")"
  }

  /// Every table by itself: its filter has to compile, and a view has to read what the role may read.
  private mutating func checkTables(
    _ role: RoleSchema, _ access: Query.Access, _ location: String, _ path: String, _ place: String
  ) {
    do throws(FreshetError) {
      let checker = try FragmentChecker(path: location, role: role)
      for table in role.visible.tables where table.kind != .shadow {
        if let error = checker.problem(ofFilterOn: table.name) {
          add("\(path).tables.\(table.name).rows", "\(place): the rows of \(table.name): \(error.message)")
          continue
        }
        var query = Query(from: quotedIdentifier(table.name))
        query.key = table.key == nil ? ["1"] : []
        query.access = access
        do throws(FreshetError) { _ = try QueryCompiler.compile(role.narrowed(query), checker: checker) } catch {
          add("\(path).tables.\(table.name)", "\(place): \(table.name): \(error.message)")
        }
        if table.key == nil, table.kind == .table {
          lines.append("    (a part of its primary key is withheld: queries over \(table.name) have to say a key)")
        }
      }
    } catch { add(path, "\(place): \(error.message)") }
  }

  private mutating func check(
    _ queries: [PublishedQuery], for access: Query.Access, _ role: RoleSchema, _ location: String, _ path: String,
    _ place: String
  ) {
    do throws(FreshetError) {
      let checker = try FragmentChecker(path: location, role: role)
      for published in queries {
        var query = published.sample
        query.access = access
        do throws(FreshetError) { _ = try QueryCompiler.compile(role.narrowed(query), checker: checker) } catch {
          add("queries.\(published.name).query", "\(place)the query \(published.name): \(error.message)")
        }
      }
    } catch { add(path, "\(place)\(error.message)") }
  }
}
