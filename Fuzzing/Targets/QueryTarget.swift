import CFuzzing
import CSQLite
import Foundation
import LiveQuery

@testable import QueryCompiler
@testable import Store

/// A query as a client writes it, compiled for a client with a role, for one of a server without roles, and run.
///
/// What a role may not read must have no part in what it gets: no answer holds the marker that is in all hidden texts,
/// and of two databases that differ in nothing but what is hidden the answers are the same.
enum QueryTarget {
  /// Owner: the main thread, which is the only one.
  nonisolated(unsafe) private static let worlds = Worlds()

  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    guard let text = InputQuery(input) else { return false }
    let query = text.query
    let role = worlds.roles[text.role]
    do throws(FreshetError) {
      let asked = role.schema.narrowed(query)
      let compiled = try QueryCompiler.compile(asked, checker: role.checker)
      if query.access.role != nil { try compare(compiled, asked, role.databases) }
      return true
    } catch {
      check(error.code != .internal, "internal error: \(error.message)")
      check(!error.message.contains(Worlds.marker), "an error tells what is hidden: \(error.message)")
      return true
    }
  }

  /// Runs everything that gives rows to the client in both databases.
  private static func compare(
    _ compiled: CompiledQuery, _ query: Query, _ databases: [WorldDatabase]
  ) throws(FreshetError) {
    let plan = compiled.plan
    let totals = [plan.rows.totals?.wholeSQL, plan.rows.totals?.sectionsSQL].compactMap(\.self)
    var statements: [(sql: String, unit: Int64?)] =
      ([plan.rows.scanSQL] + totals + plan.alongside.map(\.sql)).map { ($0, nil) }
    // Looks up a unit that exists for the role, and one that does not.
    let units = [plan.unit?.rowSQL, plan.unit?.batchSQL].compactMap(\.self)
    for value in [1, 100] as [Int64] { statements += units.map { ($0, value) } }
    let values = compiled.values(of: query)
    for (sql, unit) in statements {
      let answers = databases.map { $0.answer(sql, values, unit: unit, plan.longestValue) }
      for case .rows(let rows) in answers {
        check(!rows.contains { $0.contains(Worlds.marker) }, "\(sql)\nreads what is hidden: \(rows)")
      }
      if query.refreshEvery != nil { continue }
      check(answers[0].isSame(as: answers[1]), "\(sql)\ndepends on what is hidden: \(answers)")
    }
  }
}

/// A query in lines, each after a letter that says which part it is.
private struct InputQuery {
  var query = Query(from: "")
  /// Index among the roles; the last has no role.
  var role = 0

  init?(_ input: UnsafeRawBufferPointer) {
    guard input.count <= 2_000 else { return nil }
    let lines = String(decoding: input, as: UTF8.self).split(separator: "\n", maxSplits: 40)
    var values: [SQLValue] = []
    for line in lines {
      let text = String(line.dropFirst())
      switch line.first {
      case "R": role = min(max(Int(text) ?? 0, 0), Worlds.roleCount - 1)
      case "f": query.from = text
      case "s": query.select.append(text)
      case "w": query.filter = text
      case "g": query.groupBy.append(text)
      case "h": query.having = text
      case "S": query.sectionBy = .init(text)
      case "T": query.sectionBy?.indexTitle = text
      case "N": query.sectionBy?.name = text
      case "o": query.orderBy.append(text)
      case "k": query.key.append(text)
      case "t": query.totals["t\(query.totals.count)"] = text
      case "a": query.alongside["a\(query.alongside.count)"] = text
      case "e": query.refreshEvery = .seconds(1)
      case "p": values.append(Int64(text).map { .integer($0) } ?? .text(text))
      default: return nil
      }
    }
    if !values.isEmpty { query.parameters = .positional(values) }
    if role < Worlds.roleCount - 1 {
      query.access = .init(role: "r\(role)", claims: ["claims_sub": .text("ann")])
    }
  }
}
