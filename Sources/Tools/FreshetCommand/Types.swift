import ArgumentParser
import CSQLite
import LiveQuery
import QueryCompiler
import Server
import Store

struct Types: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write types for the rows of a database's tables, and of published queries.",
    discussion: """
      freshet types app.sqlite > tables.ts
      freshet types app.sqlite --language swift --config freshet.yaml > Tables.swift

      A column gets its declared type; unless the table is STRICT, SQLite can also store values of other types in it. \
      Columns of views, and those that may be NULL, are optional.
      """)

  enum Language: String, ExpressibleByArgument, CaseIterable { case typescript, swift }

  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"))
  var database: String

  @Option(help: "typescript or swift.")
  var language = Language.typescript

  @Option(help: ArgumentHelp("A configuration file, whose published queries get types too.", valueName: "file"))
  var config: String?

  func run() throws {
    let path = try DatabaseFile.existing(database)
    let types: [RowType]
    do { types = try rowTypes(path, Settings.file(config)) } catch let error as FreshetError {
      throw CommandFailure(error.description)
    }
    print(language == .swift ? RowType.swift(types) : RowType.typeScript(types))
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

  /// SQLite's facts about a query's columns: columns of tables have a declared type.
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
