import LiveQuery

/// One expression of a query as a client wrote it, cut into tokens and found to be in one piece.
///
/// What can be told without a grammar is checked here: it is not empty, ends what it begins, closes only what it opened, and
/// holds no `;`, no comment and no second expression. The rest is SQLite's to judge (`FragmentChecker`).
struct SQLFragment {
  /// Where it stands in the query, for messages: "where", "orderBy[0]".
  let place: String
  let text: String
  private let tokenizer: SQLTokenizer
  let tokens: [SQLToken]

  /// - Parameter isList: whether top-level commas are permitted.
  /// - Throws: `bad_query`.
  init(_ text: String, place: String) throws(FreshetError) {
    self.place = place
    self.text = text
    tokenizer = SQLTokenizer(text)
    tokens = Array(tokenizer)
    if tokens.isEmpty { throw .badQuery("\(place) is empty") }
    try check()
  }

  private func check() throws(FreshetError) {
    var depth = 0
    for token in tokens {
      switch token.kind {
      case .comment: throw .badQuery("\(place) holds a comment")
      case .unterminated: throw .badQuery("\(place) holds something that does not end: \(self.text(of: token))")
      case .illegal: throw .badQuery("\(place): unrecognized token: \(self.text(of: token))")
      default: break
      }
      switch self.text(of: token) {
      case ";": throw .badQuery("\(place) holds a semicolon")
      case "(": depth += 1
      case ")":
        depth -= 1
        if depth < 0 { throw .badQuery("\(place) is not a complete expression: it closes what it did not open") }
      case "," where depth == 0:
        throw .badQuery("\(place) holds more than one expression: write a list")
      default: break
      }
    }
    if depth > 0 { throw .badQuery("\(place) is not a complete expression: a parenthesis is left open") }
    try checkWords()
  }

  /// SQLite does not report every subquery to its authorizer: `x IN t` and `x IN (SELECT …)` may become a look-up in an
  /// index. The words are reserved, though, and are nothing else when they stand alone.
  private func checkWords() throws(FreshetError) {
    if let word = keyword(at: 0), ["SELECT", "WITH", "VALUES"].contains(word) {
      throw .badQuery("\(place) is not an expression but a statement")
    }
    for index in tokens.indices {
      guard let word = keyword(at: index) else { continue }
      let isTableOperand = word == "IN" && index + 1 < tokens.count && text(of: tokens[index + 1]) != "("
      if word == "SELECT" || word == "VALUES" || isTableOperand {
        throw .badQuery("\(place): subqueries are not served yet")
      }
    }
  }

  func text(of token: SQLToken) -> String { tokenizer.text(of: token) }

  /// The bare word at an index in upper case; negative indexes count from the end.
  func keyword(at index: Int) -> String? {
    let position = index < 0 ? tokens.count + index : index
    guard tokens.indices.contains(position), tokens[position].kind == .identifier else { return nil }
    return text(of: tokens[position]).uppercased()
  }

  /// The name that an identifier token stands for, quotes removed.
  func name(of token: SQLToken) -> String? {
    switch token.kind {
    case .identifier, .quotedIdentifier: tokenizer.unquotedText(of: token)
    default: nil
    }
  }

  /// The first `count` tokens as a fragment of their own.
  func prefix(_ count: Int) throws(FreshetError) -> SQLFragment {
    guard count > 0 else { throw .badQuery("\(place) is empty") }
    let end = tokens[count - 1].range.upperBound
    return try SQLFragment(String(decoding: Array(text.utf8)[..<end], as: UTF8.self), place: place)
  }

  /// The text with some tokens replaced.
  ///
  /// - Throws: `too_large` when replacements make it longer than SQL may be, and what `replacement` throws.
  func replacing(_ replacement: (Int) throws(FreshetError) -> String?) throws(FreshetError) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var position = 0
    for (index, token) in tokens.enumerated() {
      guard let new = try replacement(index) else { continue }
      result += bytes[position..<token.range.lowerBound]
      result += Array(new.utf8)
      position = token.range.upperBound
      if result.count > FragmentChecker.longestSQL {
        throw FreshetError(.tooLarge, "\(place) is too long with the names of select replaced by what they mean")
      }
    }
    result += bytes[position...]
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether the token at `index`, quoted or not, calls one of the functions.
  func isCall(at index: Int, of functions: [String]) -> Bool {
    guard let name = name(of: tokens[index]), index + 1 < tokens.count, text(of: tokens[index + 1]) == "(" else {
      return false
    }
    return functions.contains { isSameName($0, name) }
  }

  /// Whether the identifier at `index` stands alone: not a part of `a.b`, not a function's name.
  func isLoneName(at index: Int) -> Bool {
    guard name(of: tokens[index]) != nil else { return false }
    if index > 0, text(of: tokens[index - 1]) == "." { return false }
    if index + 1 < tokens.count, [".", "("].contains(text(of: tokens[index + 1])) { return false }
    return true
  }
}

extension FreshetError {
  static func badQuery(_ message: String) -> FreshetError { FreshetError(.badQuery, message) }
}
