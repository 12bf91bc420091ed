import ArgumentParser
import ChangeCapture
import Foundation
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
      freshet explain http://127.0.0.1:8080 --name failedBanks

      incremental: after a change, only the rows that it concerns are looked up. refetch: the query is run again after a change. \
      The output ends with advice on how to make it cheaper. Nothing is written. Of a server, it is how it follows the query at the moment: its /v1/explain.
      """)

  @Argument(help: ArgumentHelp("The SQLite file, or http(s)://host:port of a server.", valueName: "db"))
  var database: String

  @Argument(help: ArgumentHelp("A query as JSON, a SELECT, or the table to select from.", valueName: "query"))
  var query: String?

  @Option(help: "The name of a server's published query, instead of a query given here.")
  var name: String?

  @OptionGroup(title: "Query") var parts: QueryParts
  @OptionGroup(title: "Server") var access: ServerAccessOptions
  @OptionGroup(title: "Applications' own") var reading: ReadingOptions

  @Flag(help: "Print JSON, as /v1/explain does.")
  var json = false

  func validate() throws {
    _ = try parts.query(query, name: name)
    if name != nil, !isServer { throw ValidationError("--name is for a server: a file has no published queries.") }
  }

  private var isServer: Bool { ServerQuestion.isServer(database) }

  func run() throws {
    try reading.apply()
    let query = try parts.query(query, name: name).json()
    let explanation = try isServer ? ask(query) : explain(DatabaseFile.existing(database), query)
    print(json ? String(decoding: explanation, as: UTF8.self) : ExplanationText(explanation).text)
  }

  /// A server's explanation of a query.
  private func ask(_ query: JSONValue) throws -> [UInt8] {
    try ServerQuestion(database, access).answer("/v1/explain", [URLQueryItem(name: "query", value: query.jsonText)])
  }

  private func explain(_ path: String, _ query: JSONValue) throws -> [UInt8] {
    do { return try explanation(path, Query(json: query)).json } catch let error as FreshetError {
      throw CommandFailure(error.description)
    }
  }

  private func explanation(_ path: String, _ query: Query) throws -> Explanation {
    let connection = try Connection(path)
    let schema = try connection.withRaw { try DatabaseSchema.read($0) }
    let isWAL = try connection.first("PRAGMA journal_mode") { $0.text(0) } == "wal"
    let role = RoleSchema(unrestricted: schema)
    let checker = try FragmentChecker(path: path, role: role)
    var forms: [String: CaptureForm] = [:]
    if !isWAL { for table in schema.tables { forms[table.name.lowercased()] = .comparison } }
    return try QueryCompiler.compile(role.narrowed(query), checker: checker).explanation(
      checker: checker, forms: forms)
  }
}

/// An explanation for people.
private struct ExplanationText {
  private let members: [String: JSONValue]

  init(_ json: [UInt8]) {
    if case .object(let members)? = try? JSONParser.parse(String(decoding: json, as: UTF8.self)) {
      self.members = members
    } else {
      members = [:]
    }
  }

  private static func text(_ value: JSONValue?) -> String {
    guard case .string(let text)? = value else { return "" }
    return text
  }

  private static func texts(_ value: JSONValue?) -> [String] {
    guard case .array(let list)? = value else { return [] }
    return list.map { text($0) }
  }

  var text: String {
    var lines = ["\(Self.text(members["maintenance"])): \(Self.text(members["reason"]))", "", "tables"]
    if case .array(let tables)? = members["tables"] {
      for case .object(let table) in tables { lines.append("  \(Self.line(of: table))") }
    }
    lines += ["", "sql", "  \(Self.text(members["sql"]))", "", "plan"]
    lines += Self.texts(members["plan"]).map { "  \($0)" }
    let advice = Self.texts(members["advice"])
    if !advice.isEmpty { lines += ["", "advice"] + advice.map { "  \($0)" } }
    return lines.joined(separator: "\n")
  }

  private static func line(of table: [String: JSONValue]) -> String {
    let name = text(table["name"])
    let aliases = texts(table["aliases"]).filter { $0 != name }
    let captures: [Explanation.Table.Capture: String] = [
      .reading: ", being read", .comparison: ", compared as a whole", .everyCommit: ", after every commit",
    ]
    let capture = Explanation.Table.Capture(rawValue: text(table["capture"])).flatMap { captures[$0] } ?? ""
    return name + (aliases.isEmpty ? "" : " as \(aliases.joined(separator: ", "))")
      + ": by \(text(table["following"]))\(capture); columns \(texts(table["columns"]).joined(separator: ", "))"
  }
}
