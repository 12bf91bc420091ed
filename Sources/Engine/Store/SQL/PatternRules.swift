package import LiveQuery

/// LIKE and GLOB, which compare every place of a text with a pattern: 16 billion comparisons in one call are possible.
///
/// SQLite uses an index for `name LIKE 'abc%'`, but only where LIKE is its own function. Such patterns cost nothing.
/// All others become REGEXP, an operator of the same grammar that SQLite has no function for: on our connections it
/// does what LIKE does, and counts its steps (functions.c). GLOB has no other operator: statements that use it with
/// other patterns have a limit on the length of their values (`StatementWeight`).
package enum PatternRules {
  /// The function that SQLite calls for REGEXP.
  static let function = "regexp"

  /// The replacement of a token; nil: unchanged.
  ///
  /// - Parameter tokens: without comments.
  package static func replacement(at index: Int, of tokens: [SQLToken], in tokenizer: SQLTokenizer) -> String? {
    let reader = Reader(tokens: tokens, tokenizer: tokenizer)
    return reader.isUse(of: "like", at: index) && !reader.isPrefixPattern(at: index, wildcard: "%", others: "_")
      ? "REGEXP" : nil
  }

  /// Whether the token at `index` begins something whose cost grows with more than the length of a value.
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

    /// Whether an operator or function is used, and not a column that has its name.
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

    /// Whether a text follows that has no wildcard but perhaps one at its end.
    func isPrefixPattern(at index: Int, wildcard: Character, others: String) -> Bool {
      guard kind(index + 1) == .string, Self.ends.contains(text(index + 2).uppercased()) else { return false }
      var pattern = tokenizer.unquotedText(of: tokens[index + 1])[...]
      if pattern.last == wildcard { pattern.removeLast() }
      return !pattern.contains { $0 == wildcard || others.contains($0) }
    }
  }
}
