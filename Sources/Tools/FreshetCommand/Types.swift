import ArgumentParser
import CSQLite
import LiveQuery
import QueryCompiler
import Server
import Store
import Wire

struct Types: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write types for the rows of a database's tables, and of published queries.",
    discussion: """
      freshet types app.sqlite > tables.ts
      freshet types app.sqlite --language swift --config freshet.yaml > Tables.swift
      freshet types http://127.0.0.1:8080 --language python > tables.py

      A column gets its declared type; unless the table is STRICT, SQLite can also store values of other types in it. \
      Columns of views, and those that may be NULL, are optional. A column whose CHECK lists its texts has these. Of a \
      server, it is what the token's role may read.
      """)

  enum Language: String, ExpressibleByArgument, CaseIterable { case typescript, swift, python }

  @Argument(help: ArgumentHelp("The SQLite file, or http(s)://host:port of a server.", valueName: "db"))
  var database: String

  @Option(help: "typescript, swift or python.")
  var language = Language.typescript

  @Option(help: ArgumentHelp("A configuration file, whose published queries get types too.", valueName: "file"))
  var config: String?

  @OptionGroup(title: "Server") var access: ServerAccessOptions

  func validate() throws {
    if config != nil, ServerQuestion.isServer(database) {
      throw ValidationError("--config is for a file: a server has its own.")
    }
  }

  func run() throws {
    let types: [RowType]
    do {
      types =
        try ServerQuestion.isServer(database)
        ? ask() : rowTypes(DatabaseFile.existing(database), Settings.file(config))
    } catch let error as FreshetError {
      throw CommandFailure(error.description)
    }
    let text =
      switch language {
      case .typescript: RowType.typeScript(types)
      case .swift: RowType.swift(types)
      case .python: RowType.python(types)
      }
    print(text)
  }

  /// The types of a server's tables.
  private func ask() throws -> [RowType] {
    let answer = try ServerQuestion(database, access).answer("/v1/schema")
    guard case .object(let members)? = try? JSONParser.parse(answer), case .array(let tables)? = members["tables"]
    else {
      throw CommandFailure("\(database) gave an answer that cannot be read")
    }
    return RowType.withDistinctNames(tables.compactMap(DatabaseTable.init(json:)).map { RowType($0) })
  }

  private func rowTypes(_ path: String, _ file: ConfigurationFile) throws -> [RowType] {
    let connection = try Connection(path)
    let schema = try connection.withRaw { try DatabaseSchema.read($0) }
    let tables = schema.listing.map { RowType($0) }
    let checker = try FragmentChecker(path: path, role: RoleSchema(unrestricted: schema))
    let queries = try file.queries.map { published in
      let columns = try QueryCompiler.compile(published.sample, checker: checker).columns
      return RowType(
        name: published.name, source: "The published query \(published.name)",
        columns: try Self.declared(columns, of: published.sample, connection))
    }
    return RowType.withDistinctNames(tables + queries)
  }

  /// The declared types of a query's columns, for those that are columns of tables.
  private static func declared(
    _ columns: [String], of query: Query, _ connection: Connection
  ) throws -> [RowType.Column] {
    let select = query.select.isEmpty ? "*" : query.select.joined(separator: ", ")
    let group = query.groupBy.isEmpty ? "" : " GROUP BY \(query.groupBy.joined(separator: ", "))"
    let statement = try PreparedStatement(connection.raw, "SELECT \(select) FROM \(query.from)\(group)")
    var types: [String: String] = [:]
    for (index, name) in statement.columnNames.enumerated() {
      types[name] = sqlite3_column_decltype(statement.handle, Int32(index)).map { String(cString: $0) }
    }
    return columns.map {
      RowType.Column(name: $0, kind: types[$0].map { .init(declared: $0) } ?? .any, isOptional: true)
    }
  }
}
