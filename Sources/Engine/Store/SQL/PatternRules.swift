package import LiveQuery

/// Rules for LIKE and GLOB, which compare a pattern with every position of a text. One call may make 16 billion
/// comparisons.
///
/// SQLite uses an index for `name LIKE 'abc%'`, but only if LIKE is SQLite's own function. Such patterns cost little
/// and are kept. All other uses of LIKE become REGEXP, an operator with the same grammar that SQLite has no function
/// for. On our connections it does what LIKE does, and counts its steps (functions.c). There is no such operator for
/// GLOB, so statements that use GLOB with other patterns are limited to shorter values (`StatementWeight`).
package enum PatternRules {
  /// The function that SQLite calls for REGEXP.
  static let function = "regexp"

  /// The text that replaces a token; nil if the token is kept.
  ///
  /// - Parameter tokens: the tokens of the SQL without comments.
  package static func replacement(at index: Int, of tokens: [SQLToken], in tokenizer: SQLTokenizer) -> String? {
    let reader = Reader(tokens: tokens, tokenizer: tokenizer)
    return reader.isUse(of: "like", at: index) && !reader.isPrefixPattern(at: index, wildcard: "%", others: "_")
      ? "REGEXP" : nil
  }

  /// Whether the token at `index` begins an operation whose cost is more than proportional to the length of its values.
  package static func isCostly(at index: Int, of tokens: [SQLToken], in tokenizer: SQLTokenizer) -> Bool {
    let reader = Reader(tokens: tokens, tokenizer: tokenizer)
    if reader.isUse(of: "glob", at: index) {
      return !reader.isPrefixPattern(at: index, wildcard: "*", others: "?[")
    }
    return reader.isUse(of: "strftime", at: index) && reader.text(index + 1) == "(" && reader.kind(index + 2) != .string
  }

  /// Whether only the server may write this token.
  static func isReserved(_ token: SQLToken, in tokenizer: SQLTokenizer) -> Bool {
    [.identifier, .quotedIdentifier].contains(token.kind) && isSameName(tokenizer.unquotedText(of: token), function)
  }

  private struct Reader {
    var tokens: [SQLToken]
    var tokenizer: SQLTokenizer

    func kind(_ index: Int) -> SQLToken.Kind? { tokens.indices.contains(index) ? tokens[index].kind : nil }

    func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokenizer.text(of: tokens[index]) : "" }

    /// Whether a name is used as an operator or function, and not as the name of a column.
    func isUse(of name: String, at index: Int) -> Bool {
      switch kind(index) {
      case .identifier: isSameName(text(index), name) && !["", ")", ",", ".", "="].contains(text(index + 1))
      case .quotedIdentifier: isSameName(tokenizer.unquotedText(of: tokens[index]), name) && text(index + 1) == "("
      default: false
      }
    }

    /// Tokens that may follow a whole operand.
    private static let ends: Set<String> = [
      "", ")", ",", ";", "AND", "OR", "THEN", "WHEN", "ELSE", "END", "AS", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION",
      "EXCEPT", "INTERSECT", "RETURNING", "WINDOW",
    ]

    /// Whether the next token is a text whose only wildcard, if it has one, is at its end.
    func isPrefixPattern(at index: Int, wildcard: Character, others: String) -> Bool {
      guard kind(index + 1) == .string, Self.ends.contains(text(index + 2).uppercased()) else { return false }
      var pattern = tokenizer.unquotedText(of: tokens[index + 1])[...]
      if pattern.last == wildcard { pattern.removeLast() }
      return !pattern.contains { $0 == wildcard || others.contains($0) }
    }
  }
}
