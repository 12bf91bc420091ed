import LiveQuery
import Store

/// `from` divided into the sources that it joins. It has just enough grammar to follow each table separately.
///
/// A clause that it does not understand is not an error, because SQLite decides that. A query with such a clause is run
/// again after changes.
struct FromClause {
  /// One of the joined sources, with the condition that joins it to earlier sources.
  struct Source {
    enum Kind {
      /// A table or view; its name without quotes.
      case table(String)
      /// A table-valued function, by name.
      case function(String)
      /// A subquery, or a join in parentheses.
      case parenthesis
    }

    var kind: Kind
    /// The tokens of the table's name, the function's call, or the parenthesis.
    var body: Range<Int>
    /// The name by which expressions refer to the source, as SQL; nil for a parenthesis without a name.
    var qualifier: String?
    /// Whether the qualifier is an alias, and not the table's own name.
    var isNamed = false
    /// The tokens between the source and the next one: `ON …` or `USING (…)`, or no tokens.
    var constraint = 0..<0
    /// The index of the token after the source and its condition.
    var end = 0
    var join = Join.inner

    /// The tokens of its table, function or parenthesis, with its alias.
    var named: Range<Int> { body.lowerBound..<(constraint.isEmpty ? end : constraint.lowerBound) }
    /// The qualifier without quotes.
    var name: String? { qualifier.flatMap { SQLFragment.name(of: $0) } }
    var table: String? { if case .table(let name) = kind { name } else { nil } }

    /// The SELECT that the source consists of; nil if it is not a subquery.
    func select(in clause: FromClause) -> SelectStatement? {
      guard case .parenthesis = kind, body.count > 2 else { return nil }
      return SelectStatement(clause.fragment.text(of: body.dropFirst().dropLast()))
    }
  }

  enum Join {
    /// The first source, or a source whose rows appear and disappear with rows of earlier sources.
    case inner, left
    /// A source of RIGHT or FULL, which adds rows that the first source does not have.
    case outer
  }

  let fragment: SQLFragment
  let sources: [Source]
  /// Whether a source is joined by NATURAL, which compares all columns with the same name.
  let isNatural: Bool

  /// - Throws: `bad_query`, `not_allowed` for another schema than main.
  init(_ text: String) throws(FreshetError) {
    fragment = try SQLFragment(text, place: "from", kind: .tables)
    var parser = FromParser(fragment)
    sources = try parser.sources()
    isNatural = parser.isNatural
  }

  /// Whether one of the sources before a place is joined by names of columns. If a table were put before it, the join
  /// would compare that table's columns as well.
  func joinsByName(before place: Int) -> Bool {
    isNatural || sources[..<place].contains { $0.constraint.first.flatMap { fragment.keyword(at: $0) } == "USING" }
  }

  /// The clause up to the end of a source's condition, with some of its tokens replaced.
  ///
  /// - Parameter replacement: the text that replaces the token at an index; "" removes the token.
  func prefix(
    through source: Int, _ replacement: (Int) throws(FreshetError) -> String?
  ) throws(FreshetError) -> String {
    try fragment.replacing(first: sources[source].end, replacement)
  }
}

/// Reads `from` token by token.
private struct FromParser {
  private let fragment: SQLFragment
  private var position = 0
  var isNatural = false

  init(_ fragment: SQLFragment) { self.fragment = fragment }

  private static let joinWords: Set<String> = ["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER"]

  mutating func sources() throws(FreshetError) -> [FromClause.Source] {
    var sources: [FromClause.Source] = []
    var join = FromClause.Join.inner
    while true {
      guard var source = try source() else { return [] }
      source.join = join
      source.constraint = constraint()
      source.end = position
      sources.append(source)
      guard position < fragment.tokens.count else { return sources }
      guard let next = joinOperator() else { return [] }
      join = next
    }
  }

  private func text(_ index: Int) -> String {
    index < fragment.tokens.count ? fragment.text(of: fragment.tokens[index]) : ""
  }

  private func name(_ index: Int) -> String? {
    index < fragment.tokens.count ? fragment.name(of: fragment.tokens[index]) : nil
  }

  private mutating func source() throws(FreshetError) -> FromClause.Source? {
    let start = position
    if let end = fragment.endOfParenthesis(openedAt: position) {
      position = end
      return FromClause.Source(kind: .parenthesis, body: start..<end, qualifier: alias())
    }
    guard var table = name(position) else { return nil }
    position += 1
    if text(position) == ".", let second = name(position + 1) {
      guard isSameName(table, "main") else { throw FreshetError(.notAllowed, "from: only the schema main is served") }
      table = second
      position += 2
    }
    let qualifier = text(position - 1)
    if let end = fragment.endOfParenthesis(openedAt: position) {
      position = end
      return FromClause.Source(kind: .function(table), body: start..<end, qualifier: alias() ?? qualifier)
    }
    let body = start..<position
    let alias = alias()
    skipIndexHint()
    return FromClause.Source(
      kind: .table(table), body: body, qualifier: alias ?? qualifier, isNamed: alias != nil)
  }

  private mutating func alias() -> String? {
    if fragment.keyword(at: position) == "AS", name(position + 1) != nil {
      position += 2
      return text(position - 1)
    }
    guard name(position) != nil, !isKeyword(position) else { return nil }
    position += 1
    return text(position - 1)
  }

  private func isKeyword(_ index: Int) -> Bool {
    guard index < fragment.tokens.count, let word = fragment.keyword(at: index) else { return false }
    return Self.joinWords.contains(word) || ["ON", "USING", "INDEXED", "NOT", "AS"].contains(word)
  }

  private mutating func skipIndexHint() {
    guard position < fragment.tokens.count, let word = fragment.keyword(at: position) else { return }
    // If INDEXED BY is incomplete, SQLite reports the error.
    if word == "INDEXED" { position = min(position + 3, fragment.tokens.count) }
    if word == "NOT" { position = min(position + 2, fragment.tokens.count) }
  }

  /// Reads `ON …` or `USING (…)`, up to the next join.
  private mutating func constraint() -> Range<Int> {
    let start = position
    guard position < fragment.tokens.count, let word = fragment.keyword(at: position), ["ON", "USING"].contains(word)
    else { return start..<start }
    position += 1
    while position < fragment.tokens.count, text(position) != ",", !isJoin(position) {
      position = fragment.endOfParenthesis(openedAt: position) ?? position + 1
    }
    return start..<position
  }

  private func isJoin(_ index: Int) -> Bool {
    fragment.keyword(at: index).map { Self.joinWords.contains($0) } ?? false
  }

  private mutating func joinOperator() -> FromClause.Join? {
    if text(position) == "," {
      position += 1
      return .inner
    }
    var join = FromClause.Join.inner
    while position < fragment.tokens.count, let word = fragment.keyword(at: position), Self.joinWords.contains(word) {
      position += 1
      switch word {
      case "JOIN": return join
      case "LEFT": if join == .inner { join = .left }
      case "RIGHT", "FULL": join = .outer
      case "NATURAL": isNatural = true
      default: break
      }
    }
    return nil
  }
}
