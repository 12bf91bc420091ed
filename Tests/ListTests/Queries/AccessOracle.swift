import Foundation
import GRDB
import LiveQuery
import ServerSupport
import Store
import TestSupport

/// A database that contains only what one client may read: the client must see what a server without roles would show
/// of it.
struct AccessOracle {
  private let queue: DatabaseQueue

  /// - Parameter db: the database with everything.
  init(_ db: Database, _ rules: AccessRules.Role, _ access: Query.Access) throws {
    let queue = try DatabaseQueue()
    // The operator's SQL may read other tables too.
    let rule = { (table: String) in rules.tables[table] ?? (access.isPublished ? AccessRules.Table() : nil) }
    try queue.write { copy in
      for (table, columns, end) in RandomRules.columns {
        guard let rule = rule(table) else { continue }
        let visible = columns.filter { rule.columns?.contains($0.name) ?? true }
        try AccessOracle.create(table, visible, columns, end, in: copy)
        try AccessOracle.fill(table, visible.map(\.name), rule, access, from: db, in: copy)
      }
      if let rule = rule("note") {
        try copy.execute(sql: "CREATE VIRTUAL TABLE note USING fts5(body)")
        try AccessOracle.fill("note", ["rowid", "body"], rule, access, from: db, in: copy)
      }
      for view in RandomRules.views {
        guard let rule = rule(view) else { continue }
        let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [view])!
        if !rule.isRestricting {
          try copy.execute(sql: sql)
          continue
        }
        // The view gets another name, and a filtering view gets its name.
        try copy.execute(sql: sql.replacingOccurrences(of: "VIEW \(view)", with: "VIEW inner_\(view)"))
        let filter = (rule.rows ?? "1").replacingOccurrences(of: "\(view).", with: "inner_\(view).")
        let columns = rule.columns?.joined(separator: ", ") ?? "*"
        let literal = try AccessOracle.literals(filter, access, in: copy)
        try copy.execute(sql: "CREATE VIEW \(view) AS SELECT \(columns) FROM inner_\(view) WHERE \(literal)")
      }
    }
    self.queue = queue
  }

  /// The rows that the client must see; nil: an error.
  func answer(_ query: OracleQuery) -> OracleQuery.Answer? {
    try? queue.read { try query.answer($0) }
  }

  private static func create(
    _ table: String, _ visible: [(name: String, declaration: String)], _ all: [(name: String, declaration: String)],
    _ end: String, in copy: Database
  ) throws {
    let list = visible.map { "\($0.name) \($0.declaration)" }.joined(separator: ", ")
    // If a part of the key is hidden, the table has no key.
    let hasKey =
      !end.contains("PRIMARY KEY")
      || visible.contains { $0.name == "book_id" } && visible.contains { $0.name == "region" }
    try copy.execute(sql: "CREATE TABLE \(table)(\(list)\(hasKey ? end : ")")")
  }

  private static func fill(
    _ table: String, _ columns: [String], _ rule: AccessRules.Table, _ access: Query.Access, from db: Database,
    in copy: Database
  ) throws {
    let list = columns.joined(separator: ", ")
    let filter = try literals(rule.rows ?? "1", access, in: db)
    let insert = try copy.makeStatement(
      sql: "INSERT INTO \(table)(\(list)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))")
    for row in try Row.fetchAll(db, sql: "SELECT \(list) FROM \(table) WHERE (\(filter))") {
      try insert.execute(arguments: StatementArguments(Array(row.databaseValues)))
    }
  }

  /// The filter with the claims' values written out. A parameter has no affinity, and neither has a literal.
  private static func literals(_ filter: String, _ access: Query.Access, in db: Database) throws -> String {
    var sql = filter
    for (name, value) in access.claims {
      let literal =
        switch value {
        case .integer(let value): "\(value)"
        case .text(let text): "'\(text)'"
        default: "NULL"
        }
      sql = sql.replacingOccurrences(of: ":\(name)", with: literal)
    }
    return sql
  }
}
