/// A SELECT divided into its clauses. Expressions stay text, which only SQLite interprets.
///
///     [WITH …] SELECT … FROM … [UNION …] [ORDER BY …] [LIMIT … OFFSET …]
package struct SelectStatement: Equatable, Sendable {
  /// A common table expression.
  package struct CommonTable: Equatable, Sendable {
    /// The table's name, with its columns if they are listed: `t(a, b)`.
    package var name: String
    /// `AS`, or `AS` with MATERIALIZED or NOT MATERIALIZED.
    package var hint: String
    package var select: String
  }

  /// One SELECT or VALUES of a compound SELECT.
  package struct Core: Equatable, Sendable {
    package var isDistinct = false
    /// The columns of the result, with their aliases.
    package var columns: [String] = []
    package var from: String?
    package var filter: String?
    package var groupBy: [String] = []
    package var having: String?
    package var windows: String?
    /// The text after VALUES; nil for a SELECT.
    package var values: String?
  }

  package enum SetOperator: String, Sendable {
    case union = "UNION"
    case unionAll = "UNION ALL"
    case intersect = "INTERSECT"
    case except = "EXCEPT"
  }

  package var isRecursive = false
  package var commonTables: [CommonTable] = []
  /// One at least.
  package var cores: [Core] = []
  /// Between the cores.
  package var operators: [SetOperator] = []
  package var orderBy: [String] = []
  package var limit: String?
  package var offset: String?

  /// - Returns: nil if the text is not a SELECT, or cannot be divided.
  package init?(_ sql: String) {
    var reader = SelectReader(sql)
    do throws(Unreadable) { try reader.read(into: &self) } catch { return nil }
  }

  /// Whether all of its clauses, except perhaps the limit, have a corresponding part of a query.
  package var isPlain: Bool {
    commonTables.isEmpty && cores.count == 1 && offset == nil && !cores[0].isDistinct && cores[0].windows == nil
      && cores[0].from != nil
  }

  /// Whether it has only columns, FROM and WHERE, and perhaps an order, which has no effect if the SELECT is in place
  /// of a table or a value.
  package var isRowsAlone: Bool { isPlain && limit == nil && cores[0].groupBy.isEmpty && cores[0].having == nil }

  /// The text of the statement, put together from its clauses.
  package var text: String {
    var parts: [String] = []
    if !commonTables.isEmpty {
      let tables = commonTables.map { "\($0.name) \($0.hint) (\($0.select))" }
      parts.append("WITH \(isRecursive ? "RECURSIVE " : "")\(tables.joined(separator: ", "))")
    }
    for (index, core) in cores.enumerated() {
      if index > 0 { parts.append(operators[index - 1].rawValue) }
      parts.append(core.text)
    }
    if !orderBy.isEmpty { parts.append("ORDER BY \(orderBy.joined(separator: ", "))") }
    if let limit { parts.append("LIMIT \(limit)") }
    if let offset { parts.append("OFFSET \(offset)") }
    return parts.joined(separator: " ")
  }
}

extension SelectStatement.Core {
  fileprivate var text: String {
    if let values { return "VALUES \(values)" }
    var parts = ["SELECT \(isDistinct ? "DISTINCT " : "")\(columns.joined(separator: ", "))"]
    if let from { parts.append("FROM \(from)") }
    if let filter { parts.append("WHERE \(filter)") }
    if !groupBy.isEmpty { parts.append("GROUP BY \(groupBy.joined(separator: ", "))") }
    if let having { parts.append("HAVING \(having)") }
    if let windows { parts.append("WINDOW \(windows)") }
    return parts.joined(separator: " ")
  }
}

/// Reads a SELECT token by token.
private struct SelectReader {
  private let bytes: [UInt8]
  private let tokens: [SQLToken]
  /// The texts of the tokens, with bare words in upper case.
  private let words: [String]
  private var position = 0

  init(_ sql: String) {
    var bytes = Array(sql.utf8)
    let tokenizer = SQLTokenizer(bytes)
    let all = Array(tokenizer)
    // Comments are removed, because clauses are put together in other ways, and a comment would hide the text after it.
    for comment in all where comment.kind == .comment {
      for index in comment.range { bytes[index] = UInt8(ascii: " ") }
    }
    var tokens = all.filter { $0.kind != .comment }
    while let last = tokens.last, tokenizer.text(of: last) == ";" { tokens.removeLast() }
    self.bytes = bytes
    self.tokens = tokens
    words = tokens.map { token in
      let text = tokenizer.text(of: token)
      return token.kind == .identifier ? text.uppercased() : text
    }
  }

  mutating func read(into statement: inout SelectStatement) throws(Unreadable) {
    guard tokens.allSatisfy({ $0.kind != .unterminated && $0.kind != .illegal }), !words.contains(";") else {
      throw Unreadable()
    }
    if take("WITH") { try readCommonTables(&statement) }
    repeat { statement.cores.append(try core()) } while readSetOperator(&statement)
    if take("ORDER", "BY") { statement.orderBy = try list(upTo: ["LIMIT"]) }
    if take("LIMIT") { try readLimit(&statement) }
    if position < tokens.count { throw Unreadable() }
  }

  // MARK: - Tokens

  private func word(_ offset: Int) -> String? {
    position + offset < tokens.count ? words[position + offset] : nil
  }

  private mutating func take(_ expected: String...) -> Bool {
    for (offset, text) in expected.enumerated() where word(offset) != text { return false }
    position += expected.count
    return true
  }

  private func text(_ range: Range<Int>) throws(Unreadable) -> String {
    guard let first = range.first, let last = range.last else { throw Unreadable() }
    return String(decoding: bytes[tokens[first].range.lowerBound..<tokens[last].range.upperBound], as: UTF8.self)
  }

  private static let coreEnds: Set<String> = ["UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT"]

  /// Whether a clause begins at a token. Some of the words that begin clauses have other meanings as well.
  private func isClause(_ index: Int, _ ends: Set<String>) -> Bool {
    guard tokens[index].kind == .identifier, ends.contains(words[index]) else { return false }
    switch words[index] {
    // In `a IS NOT DISTINCT FROM b`, FROM does not begin a clause.
    case "FROM": return index == 0 || words[index - 1] != "DISTINCT"
    case "GROUP", "ORDER": return index + 1 < words.count && words[index + 1] == "BY"
    // WINDOW is not reserved, so it may be the name of a column.
    case "WINDOW": return index + 3 < words.count && words[index + 2] == "AS" && words[index + 3] == "("
    case "OFFSET": return index + 1 < words.count
    default: return true
    }
  }

  /// The parts between commas outside parentheses, up to one of the words `ends` or the end of the text.
  private mutating func list(upTo ends: Set<String>) throws(Unreadable) -> [String] {
    var parts: [String] = []
    var (start, depth) = (position, 0)
    while position < tokens.count, depth > 0 || !isClause(position, ends) {
      switch words[position] {
      case "(": depth += 1
      case ")": depth -= 1
      case "," where depth == 0:
        parts.append(try text(start..<position))
        start = position + 1
      default: break
      }
      if depth < 0 { throw Unreadable() }
      position += 1
    }
    if depth > 0 { throw Unreadable() }
    return parts + [try text(start..<position)]
  }

  /// The text after a word, up to one of the words `ends`; nil if the word is missing.
  private mutating func clause(_ word: String, upTo ends: Set<String>) throws(Unreadable) -> String? {
    guard position < tokens.count, isClause(position, [word]) else { return nil }
    position += 1
    let start = position
    _ = try list(upTo: ends)
    return try text(start..<position)
  }

  /// The inside of a parenthesis.
  private mutating func parenthesis() throws(Unreadable) -> String {
    guard take("(") else { throw Unreadable() }
    let start = position
    var depth = 1
    while position < tokens.count {
      if words[position] == "(" { depth += 1 }
      if words[position] == ")" { depth -= 1 }
      position += 1
      if depth == 0 { return try text(start..<position - 1) }
    }
    throw Unreadable()
  }

  // MARK: - Clauses

  private mutating func readCommonTables(_ statement: inout SelectStatement) throws(Unreadable) {
    statement.isRecursive = take("RECURSIVE")
    repeat {
      guard position < tokens.count, tokens[position].kind.mayBeName else { throw Unreadable() }
      var name = try text(position..<position + 1)
      position += 1
      if word(0) == "(" { name += "(\(try parenthesis()))" }
      guard take("AS") else { throw Unreadable() }
      var hint = "AS"
      if take("NOT", "MATERIALIZED") {
        hint = "AS NOT MATERIALIZED"
      } else if take("MATERIALIZED") {
        hint = "AS MATERIALIZED"
      }
      statement.commonTables.append(.init(name: name, hint: hint, select: try parenthesis()))
    } while take(",")
  }

  private mutating func core() throws(Unreadable) -> SelectStatement.Core {
    var core = SelectStatement.Core()
    core.values = try clause("VALUES", upTo: Self.coreEnds)
    if core.values != nil { return core }
    guard take("SELECT") else { throw Unreadable() }
    core.isDistinct = take("DISTINCT")
    if !core.isDistinct { _ = take("ALL") }
    var ends = Self.coreEnds.union(["FROM", "WHERE", "GROUP", "HAVING", "WINDOW"])
    core.columns = try list(upTo: ends)
    ends.remove("FROM")
    core.from = try clause("FROM", upTo: ends)
    ends.remove("WHERE")
    core.filter = try clause("WHERE", upTo: ends)
    ends.remove("GROUP")
    if take("GROUP", "BY") { core.groupBy = try list(upTo: ends) }
    ends.remove("HAVING")
    core.having = try clause("HAVING", upTo: ends)
    core.windows = try clause("WINDOW", upTo: Self.coreEnds)
    return core
  }

  private mutating func readSetOperator(_ statement: inout SelectStatement) -> Bool {
    for known in [SelectStatement.SetOperator.union, .intersect, .except] where take(known.rawValue) {
      statement.operators.append(known == .union && take("ALL") ? .unionAll : known)
      return true
    }
    return false
  }

  /// Reads a limit of the form `a`, `a OFFSET b`, or `b, a`.
  private mutating func readLimit(_ statement: inout SelectStatement) throws(Unreadable) {
    let terms = try list(upTo: ["OFFSET"])
    guard terms.count <= 2 else { throw Unreadable() }
    statement.limit = terms.last
    statement.offset = terms.count == 2 ? terms[0] : try clause("OFFSET", upTo: [])
  }
}

private struct Unreadable: Error {}
