package import LiveQuery

/// Rejects SQL that SQLite would run but clients may not send, in a fragment of a query or in a statement of a
/// transaction.
package enum StatementRules {
  /// - Parameters:
  ///   - tokens: the tokens of the SQL without comments.
  ///   - place: the part of the query, for messages.
  /// - Throws: `bad_query`, `too_large`.
  package static func check(
    of tokens: [SQLToken], in tokenizer: SQLTokenizer, place: String
  ) throws(FreshetError) {
    try checkFormats(of: tokens, in: tokenizer, place: place)
    try checkConditions(of: tokens, in: tokenizer, place: place)
  }

  /// Checks formats. `printf('%.*c', 900000000, 'x')` takes SQLite seconds in which it cannot be interrupted, so a
  /// format must be a literal, and its widths small.
  private static func checkFormats(
    of tokens: [SQLToken], in tokenizer: SQLTokenizer, place: String
  ) throws(FreshetError) {
    let text = { (index: Int) in tokens.indices.contains(index) ? tokenizer.text(of: tokens[index]) : "" }
    for (index, token) in tokens.enumerated() where text(index + 1) == "(" {
      guard [.identifier, .quotedIdentifier].contains(token.kind),
        AllowedFunctions.formatting.contains(where: { isSameName($0, tokenizer.unquotedText(of: token)) })
      else { continue }
      let format = text(index + 2)
      let isText =
        index + 2 < tokens.count && tokens[index + 2].kind == .string && [",", ")"].contains(text(index + 3))
      let hasWideField = format.split { !$0.isASCII || !$0.isNumber }.contains { $0.count > 3 }
      guard isText, !format.contains("*"), !hasWideField else {
        throw .badQuery("\(place): a format must be a text without * and without widths of more than 3 digits")
      }
    }
  }

  /// The most conditions that AND joins. SQLite compares them in pairs, without checking the time.
  private static let mostConditions = 500

  private static func checkConditions(
    of tokens: [SQLToken], in tokenizer: SQLTokenizer, place: String
  ) throws(FreshetError) {
    var count = 0
    for token in tokens {
      if PatternRules.isReserved(token, in: tokenizer) { throw .badQuery("\(place): no such function: REGEXP") }
      if token.kind == .identifier, isSameName(tokenizer.text(of: token), "and") { count += 1 }
    }
    if count > mostConditions {
      throw FreshetError(.tooLarge, "\(place) has more than \(mostConditions) conditions joined by AND")
    }
  }
}
