import LiveQuery

/// The texts that columns of a table may have according to a CHECK such as `CHECK (status IN ('open', 'closed'))`.
///
/// All other conditions are ignored; their columns may have any value that their type allows.
struct CheckedValues {
  /// The texts in their order, by the column's name in lower case.
  private(set) var values: [String: [String]] = [:]

  /// - Parameter definition: the table's CREATE TABLE statement.
  init(_ definition: String) {
    let tokenizer = SQLTokenizer(definition)
    let tokens = tokenizer.filter { $0.kind != .comment }
    for (index, token) in tokens.enumerated()
    where token.kind == .identifier && tokenizer.text(of: token).uppercased() == "CHECK" {
      var reader = Reader(tokenizer: tokenizer, tokens: tokens[(index + 1)...])
      if let (column, texts) = reader.list() { values[column.lowercased()] = texts }
    }
  }

  private struct Reader {
    let tokenizer: SQLTokenizer
    var tokens: ArraySlice<SQLToken>

    /// Parses `(column IN ('a', 'b'))`, which may have `column IS NULL OR` before it or `OR column IS NULL` after it.
    mutating func list() -> (column: String, texts: [String])? {
      guard take("("), let column = name() else { return nil }
      if take("IS") {
        guard take("NULL"), take("OR"), let again = name(), isSameName(again, column) else { return nil }
      }
      guard take("IN"), take("(") else { return nil }
      var texts: [String] = []
      repeat {
        guard let token = tokens.first, token.kind == .string else { return nil }
        texts.append(tokenizer.unquotedText(of: token))
        tokens.removeFirst()
      } while take(",")
      guard take(")") else { return nil }
      if take("OR") {
        guard let again = name(), isSameName(again, column), take("IS"), take("NULL") else { return nil }
      }
      return take(")") ? (column, texts) : nil
    }

    private mutating func take(_ text: String) -> Bool {
      guard let token = tokens.first, token.kind == .identifier || token.kind == .symbol,
        tokenizer.text(of: token).uppercased() == text
      else { return false }
      tokens.removeFirst()
      return true
    }

    private mutating func name() -> String? {
      guard let token = tokens.first, token.kind == .identifier || token.kind == .quotedIdentifier else { return nil }
      tokens.removeFirst()
      return tokenizer.unquotedText(of: token)
    }
  }
}
