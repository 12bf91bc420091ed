import LiveQuery
import Store

/// One expression of a query as a client wrote it, split into tokens and checked to be one piece.
///
/// Everything that needs no grammar is checked here: the text is not empty, its quotes and parentheses are balanced,
/// and it contains no `;`, no comment and no second expression. SQLite checks the rest (`FragmentChecker`).
struct SQLFragment {
  /// The part of the query that it is, for messages: "where", "orderBy[0]".
  let place: String
  let text: String
  let tokenizer: SQLTokenizer
  let tokens: [SQLToken]

  /// Kinds of fragments.
  enum Kind {
    case expression
    /// `from`: tables with commas between them.
    case tables
    /// A SELECT.
    case statement
  }

  let kind: Kind

  /// - Throws: `bad_query`.
  init(_ text: String, place: String, kind: Kind = .expression) throws(FreshetError) {
    self.place = place
    self.text = text
    self.kind = kind
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
      case "," where depth == 0 && kind == .expression:
        throw .badQuery("\(place) holds more than one expression: write a list")
      default: break
      }
    }
    if depth > 0 { throw .badQuery("\(place) is not a complete expression: a parenthesis is left open") }
    let isStatement = keyword(at: 0).map { ["SELECT", "WITH", "VALUES"].contains($0) } ?? false
    if isStatement, kind != .statement { throw .badQuery("\(place) is not an expression but a statement") }
    if !isStatement, kind == .statement { throw .badQuery("\(place) must be a SELECT") }
  }

  /// Whether it contains another SELECT. The words are reserved, so outside quotes they have no other meaning; `x IN t`
  /// reads a table as well.
  var hasSubquery: Bool { hasSubquery(in: tokens.indices) }

  func text(of token: SQLToken) -> String { tokenizer.text(of: token) }

  /// The text of a token, quotes removed.
  func unquoted(_ token: SQLToken) -> String { tokenizer.unquotedText(of: token) }

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

  /// The identifier that a text consists of; nil if it is anything else.
  static func name(of text: String) -> String? {
    let tokenizer = SQLTokenizer(text)
    return tokenizer.first { $0.kind == .identifier || $0.kind == .quotedIdentifier }.map {
      tokenizer.unquotedText(of: $0)
    }
  }

  /// The first `count` tokens as a fragment of their own.
  func prefix(_ count: Int) throws(FreshetError) -> SQLFragment {
    guard count > 0 else { throw .badQuery("\(place) is empty") }
    let end = tokens[count - 1].range.upperBound
    return try SQLFragment(String(decoding: Array(text.utf8)[..<end], as: UTF8.self), place: place)
  }

  /// The text of some of the tokens, including the text between them.
  func text(of range: Range<Int>) -> String {
    guard let first = range.first, let last = range.last else { return "" }
    let bytes = Array(text.utf8)[tokens[first].range.lowerBound..<tokens[last].range.upperBound]
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text, or that of its `first` tokens, with some of them replaced.
  ///
  /// - Throws: `too_large` if replacements make the text longer than SQL may be, and the errors of `replacement`.
  func replacing(
    first count: Int? = nil, _ replacement: (Int) throws(FreshetError) -> String?
  ) throws(FreshetError) -> String {
    let bytes = Array(text.utf8)
    let replaced = tokens.prefix(count ?? tokens.count)
    var result: [UInt8] = []
    var position = 0
    for (index, token) in replaced.enumerated() {
      guard let new = try replacement(index) else { continue }
      result += bytes[position..<token.range.lowerBound]
      result += Array(new.utf8)
      position = token.range.upperBound
      if result.count > ConnectionLimits.sql {
        throw FreshetError(.tooLarge, "\(place) is too long with the names of select replaced by what they mean")
      }
    }
    result += bytes[position..<(count == nil ? bytes.count : replaced.last?.range.upperBound ?? 0)]
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether it contains an operation whose cost is more than proportional to the length of its values; see
  /// `PatternRules`.
  var isCostly: Bool { tokens.indices.contains { PatternRules.isCostly(at: $0, of: tokens, in: tokenizer) } }

  /// Whether the identifier at `index` is neither a part of `a.b` nor the name of a function.
  func isLoneName(at index: Int) -> Bool {
    guard name(of: tokens[index]) != nil else { return false }
    if index > 0, text(of: tokens[index - 1]) == "." { return false }
    if index + 1 < tokens.count, [".", "("].contains(text(of: tokens[index + 1])) { return false }
    return true
  }
}
