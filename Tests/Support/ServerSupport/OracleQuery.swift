import Foundation
package import GRDB
package import LiveQuery
import Store
package import TestSupport
package import Wire

/// One query of the random tests: as it is sent, and as plain SQL for SQLite's own answer.
package struct OracleQuery: Sendable {
  /// `from`.
  package var table: String
  package var keys: [String]
  package var select: [String]
  package var filter: String?
  /// Expression with its collation and direction apart.
  package var section: (expression: String, isDescending: Bool)?
  package var orderBy: [String]
  package var limit: Int?
  package var window: (offset: Int, limit: Int)?
  package var groupBy: [String] = []
  package var having: String?
  /// Whether the key is sent; otherwise the default applies.
  package var tellsKey = false
  /// Names and SQL of aggregates over the rows.
  package var totals: [String: String] = [:]
  /// Names and SQL of single values.
  package var alongside: [String: String] = [:]
  package var parameters: [String: Int] = [:]
  /// A whole SELECT that is sent in place of `table` and `select`; these are then the SQL and the names of its result.
  package var sql: String?
  /// The order of the SELECT itself, which counts without `orderBy`.
  package var ownOrder: [String] = []

  package init(
    table: String, keys: [String], select: [String], filter: String? = nil,
    section: (expression: String, isDescending: Bool)? = nil, orderBy: [String], limit: Int? = nil,
    window: (offset: Int, limit: Int)? = nil, groupBy: [String] = [], having: String? = nil, tellsKey: Bool = false,
    totals: [String: String] = [:], alongside: [String: String] = [:], parameters: [String: Int] = [:]
  ) {
    self.table = table
    self.keys = keys
    self.select = select
    self.filter = filter
    self.section = section
    self.orderBy = orderBy
    self.limit = limit
    self.window = window
    self.groupBy = groupBy
    self.having = having
    self.tellsKey = tellsKey
    self.totals = totals
    self.alongside = alongside
    self.parameters = parameters
  }

  package var json: String {
    var parts = [sql.map { "\"sql\":\"\($0)\"" } ?? "\"from\":\"\(table)\""]
    if !select.isEmpty, sql == nil { parts.append("\"select\":[\(select.map { "\"\($0)\"" }.joined(separator: ","))]") }
    if let filter { parts.append("\"where\":\"\(filter)\"") }
    if let section {
      parts.append(
        "\"sectionBy\":{\"by\":\"\(section.expression)\",\"order\":\"\(section.isDescending ? "DESC" : "ASC")\"}")
    }
    if !orderBy.isEmpty { parts.append("\"orderBy\":[\(orderBy.map { "\"\($0)\"" }.joined(separator: ","))]") }
    if let limit { parts.append("\"limit\":\(limit)") }
    if !groupBy.isEmpty { parts.append("\"groupBy\":[\(groupBy.map { "\"\($0)\"" }.joined(separator: ","))]") }
    if let having { parts.append("\"having\":\"\(having)\"") }
    if tellsKey { parts.append("\"key\":[\(keys.map { "\"\($0)\"" }.joined(separator: ","))]") }
    for (member, fragments) in [("totals", totals), ("alongside", alongside)] where !fragments.isEmpty {
      parts.append("\"\(member)\":{\(fragments.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ","))}")
    }
    if !parameters.isEmpty {
      parts.append("\"params\":{\(parameters.map { "\"\($0)\":\($1)" }.joined(separator: ","))}")
    }
    return "{\(parts.joined(separator: ","))}"
  }

  package struct Answer {
    /// Name and number of rows.
    package var sections: [(name: JSONValue, count: Int)] = []
    package var rows: [[JSONValue]] = []
    /// Whether two rows have the same key.
    package var hasDuplicates = false
    package var alongside: [String: JSONValue] = [:]
    package var totals: [String: JSONValue] = [:]
    /// By section.
    package var sectionTotals: [[String: JSONValue]] = []
  }

  /// The rows of a statement. GRDB is not used, because its texts end at a NUL character.
  private func rows(_ db: Database, _ sql: String) throws -> [[SQLValue]] {
    guard let connection = db.sqliteConnection else { return [] }
    let statement = try PreparedStatement(
      connection, parameters.reduce(sql) { $0.replacingOccurrences(of: ":\($1.key)", with: "\($1.value)") })
    var rows: [[SQLValue]] = []
    while try statement.step() { rows.append((0..<statement.columnCount).map { statement.value($0).value }) }
    return rows
  }

  /// SQLite's answer.
  package func answer(_ db: Database) throws -> Answer {
    let section = section?.expression ?? "''"
    let direction = self.section?.isDescending == true ? " DESC" : ""
    let names = keys.map { $0.components(separatedBy: " AS ").last! }
    let order =
      ["\(section)\(direction)"] + (orderBy.isEmpty ? ownOrder : orderBy) + names + names.map { "\($0) COLLATE BINARY" }
    let rank = "dense_rank() OVER (ORDER BY \(section)\(direction))"
    let list = [rank, section] + keys + select.filter { !keys.contains($0) }
    let sql = """
      SELECT \(list.joined(separator: ", ")) FROM \(table) \(filter.map { "WHERE \($0)" } ?? "") \
      \(groupBy.isEmpty ? "" : "GROUP BY \(groupBy.joined(separator: ", "))") \(having.map { "HAVING \($0)" } ?? "") \
      ORDER BY \(order.joined(separator: ", "))
      """
    var answer = Answer()
    for (name, sql) in alongside { answer.alongside[name] = JSONValue(try rows(db, sql).first?.first ?? .null) }
    var lastRank: Int64 = -1
    var seen: Set<[JSONValue]> = []
    for row in try rows(db, sql) {
      let values = row.map { JSONValue($0) }
      answer.hasDuplicates = !seen.insert(Array(values[2..<2 + keys.count])).inserted || answer.hasDuplicates
      if let limit, answer.rows.count >= limit { continue }
      guard case .integer(let rank) = row[0] else { continue }
      if rank != lastRank {
        answer.sections.append((values[1], 0))
        lastRank = rank
      }
      answer.sections[answer.sections.count - 1].count += 1
      answer.rows.append(Array(values[2...]))
    }
    if self.section == nil, answer.sections.isEmpty { answer.sections = [(.string(""), 0)] }
    try addTotals(db, to: &answer)
    return answer
  }

  private func addTotals(_ db: Database, to answer: inout Answer) throws {
    let names = totals.keys.sorted()
    let list = names.map { totals[$0]! }.joined(separator: ", ")
    let source = "FROM \(table) \(filter.map { "WHERE \($0)" } ?? "")"
    let named = { (values: [SQLValue]) in
      Dictionary(uniqueKeysWithValues: zip(names, values.map { JSONValue($0) }))
    }
    answer.sectionTotals = Array(repeating: [:], count: answer.sections.count)
    if names.isEmpty { return }
    answer.totals = named(try rows(db, "SELECT \(list) \(source)")[0])
    answer.sectionTotals = [answer.totals]
    guard let section else { return }
    let direction = section.isDescending ? " DESC" : ""
    let sql = "SELECT \(section.expression), \(list) \(source) GROUP BY 1 ORDER BY \(section.expression)\(direction)"
    answer.sectionTotals = try rows(db, sql).map { named(Array($0.dropFirst())) }
  }
}

extension JSONValue {
  /// A value as the protocol sends it.
  package init(_ value: SQLValue) {
    var writer = JSONWriter()
    writer.value(value)
    self = (try? JSONParser.parse(writer.bytes)) ?? .null
  }
}

extension ClientModel {
  /// The difference between the client and SQLite's own answer; nil: none.
  package func difference(from answer: OracleQuery.Answer) -> String? {
    let mine = sections.map { "\($0.name) × \($0.rows.count)" }
    let theirs = answer.sections.map { "\($0.name) × \($0.count)" }
    if mine != theirs { return "sections \(mine) instead of \(theirs)" }
    if alongside != answer.alongside { return "alongside \(alongside) instead of \(answer.alongside)" }
    if totals != answer.totals { return "totals \(totals) instead of \(answer.totals)" }
    let sectionTotals = sections.map(\.totals)
    if sectionTotals != answer.sectionTotals {
      return "totals of sections \(sectionTotals) instead of \(answer.sectionTotals)"
    }
    let start = window.map { min($0.offset, total) } ?? 0
    for (index, row) in visibleRows.enumerated() {
      let expected = answer.rows[start + index]
      guard let row else { return "no contents at offset \(start + index)" }
      let values = columns.map { row[$0] ?? .null }
      if values != expected { return "\(values) instead of \(expected) at offset \(start + index)" }
    }
    return nil
  }
}
