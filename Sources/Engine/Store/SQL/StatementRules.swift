package import LiveQuery

/// SQL that no client may send although SQLite would run it: neither in a query's fragment nor in a statement of a
/// transaction.
package enum StatementRules {
  /// - Parameters:
  ///   - tokens: without comments.
  ///   - place: for messages.
  /// - Throws: `bad_query`, `too_large`.
  package static func check(
    of tokens: [SQLToken], in tokenizer: SQLTokenizer, place: String
  ) throws(FreshetError) {
    try checkFormats(of: tokens, in: tokenizer, place: place)
    try checkConditions(of: tokens, in: tokenizer, place: place)
  }

  /// `printf('%.*c', 900000000, 'x')` takes SQLite seconds in which it cannot be interrupted: formats have to be there
  /// to be read, and modest.
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

  /// SQLite compares conditions that AND joins in pairs, without looking at the time.
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
