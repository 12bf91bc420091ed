import LiveQuery

/// What a fragment may not hold although SQLite would run it.
enum FragmentRules {
  /// - Parameter mayChange: whether the query says how often it is to be run again, and so may depend on time and chance.
  static func check(_ fragment: SQLFragment, mayChange: Bool) throws(FreshetError) {
    try checkFormats(of: fragment.tokens, in: fragment.tokenizer, place: fragment.place)
    try checkConditions(of: fragment.tokens, in: fragment.tokenizer, place: fragment.place)
    if !mayChange { try refuseNow(fragment) }
  }

  /// `printf('%.*c', 900000000, 'x')` takes SQLite seconds in which it cannot be interrupted: formats have to be there to
  /// be read, and modest.
  static func checkFormats(
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

  static func checkConditions(
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

  /// What depends on the time cannot be followed by looking at changes.
  private static func refuseNow(_ fragment: SQLFragment) throws(FreshetError) {
    for (index, token) in fragment.tokens.enumerated() {
      if token.kind == .string, fragment.text(of: token).lowercased() == "'now'" {
        throw changing(fragment, "'now'")
      }
      guard let word = fragment.name(of: token)?.lowercased(), index + 2 < fragment.tokens.count,
        AllowedFunctions.temporal.contains(word), fragment.text(of: fragment.tokens[index + 1]) == "("
      else { continue }
      // Without arguments, or with a format alone, they mean now.
      let isBare = fragment.text(of: fragment.tokens[index + 2]) == ")"
      let isFormatAlone =
        word == "strftime" && index + 3 < fragment.tokens.count
        && fragment.text(of: fragment.tokens[index + 3]) == ")"
      if isBare || isFormatAlone { throw changing(fragment, word) }
    }
  }

  private static func changing(_ fragment: SQLFragment, _ what: String) -> FreshetError {
    .badQuery(
      "\(fragment.place): the result depends on the time (\(what)), so no change of the database tells when it is another "
        + "one: give the query a refreshEvery, in seconds")
  }
}
