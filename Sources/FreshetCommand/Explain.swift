import ArgumentParser
import ChangeCapture
import GRDB
import LiveQuery
import QueryCompiler
import Store
import TerminalWatch
import Wire

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Explain how a query of a database would be kept up to date, and why.",
    discussion: """
      freshet explain app.sqlite bank --where 'state = :state' --param state=GA
      freshet explain app.sqlite '{"from": "bank JOIN branch ON branch.bank_id = bank.id"}'

      incremental: after a change, only the rows that it concerns are looked up. refetch: the query is run again after a change. \
      The output ends with advice on how to make it cheaper. Nothing is written. A server answers the same at /v1/explain.
      """)

  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"))
  var database: String

  @Argument(help: ArgumentHelp("A query as JSON, or the table to select from.", valueName: "query"))
  var query: String

  @OptionGroup(title: "Query") var parts: QueryParts

  @Flag(help: "Print JSON, as /v1/explain does.")
  var json = false

  func validate() throws { _ = try parts.query(query) }

  func run() throws {
    let path = try DatabaseFile.existing(database)
    let explanation: Explanation
    do { explanation = try explain(path, Query(json: parts.query(query).json())) } catch let error as FreshetError {
      throw CommandFailure(error.description)
    } catch let error as StoreError {
      throw CommandFailure(error.message)
    }
    print(json ? String(decoding: explanation.json, as: UTF8.self) : text(explanation))
  }

  private func explain(_ path: String, _ query: Query) throws -> Explanation {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    configuration.avoidWALResetBug()
    let (schema, isWAL) = try DatabaseQueue(path: path, configuration: configuration).read { db in
      (try DatabaseSchema.read(db), try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal")
    }
    let role = RoleSchema(unrestricted: schema)
    let checker = try FragmentChecker(path: path, role: role)
    var forms: [String: CaptureForm] = [:]
    if !isWAL { for table in schema.tables { forms[table.name.lowercased()] = .comparison } }
    return try QueryCompiler.compile(role.narrowed(query), checker: checker).explanation(
      checker: checker, forms: forms)
  }

  private func text(_ explanation: Explanation) -> String {
    var lines = ["\(explanation.maintenance.rawValue): \(explanation.reason)", "", "tables"]
    for table in explanation.tables {
      let aliases = table.aliases.filter { $0 != table.name }
      let name = table.name + (aliases.isEmpty ? "" : " as \(aliases.joined(separator: ", "))")
      let capture =
        switch table.capture {
        case .rows, .pages: ""
        case .reading: ", being read"
        case .comparison: ", compared as a whole"
        case .everyCommit: ", after every commit"
        }
      lines.append(
        "  \(name): by \(table.following.rawValue)\(capture); columns \(table.columns.joined(separator: ", "))")
    }
    lines += ["", "sql", "  \(explanation.sql)", "", "plan"] + explanation.plan.map { "  \($0)" }
    if !explanation.advice.isEmpty { lines += ["", "advice"] + explanation.advice.map { "  \($0)" } }
    return lines.joined(separator: "\n")
  }
}
