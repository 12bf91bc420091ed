package import LiveQuery

/// Finds SQL whose value depends on the time or on a random number, so that it can change without a change of the
/// database.
package enum ChangingSQL {
  /// The first such part of a text: `'now'`, or the name of a function that reads the clock or a random number.
  ///
  /// Only whole tokens count, so the contents of strings and comments and parts of longer names do not.
  package static func first(in tokens: [SQLToken], _ tokenizer: SQLTokenizer) -> String? {
    let tokens = tokens.filter { $0.kind != .comment }
    let text = { (index: Int) in index < tokens.count ? tokenizer.text(of: tokens[index]) : "" }
    for (index, token) in tokens.enumerated() {
      if token.kind == .string, isNow(tokenizer.unquotedText(of: token)) { return "'now'" }
      guard token.kind == .identifier || token.kind == .quotedIdentifier else { continue }
      let word = tokenizer.unquotedText(of: token).lowercased()
      if AllowedFunctions.changing.contains(word) || word == "randomblob" { return word }
      guard AllowedFunctions.temporal.contains(word), text(index + 1) == "(" else { continue }
      // Without arguments, or with only a format, these functions return the present time.
      if text(index + 2) == ")" || (word == "strftime" && text(index + 3) == ")") { return word }
    }
    return nil
  }

  package static func first(in sql: String) -> String? {
    let tokenizer = SQLTokenizer(sql)
    return first(in: Array(tokenizer), tokenizer)
  }

  /// Whether SQLite's date functions read a text as the present time.
  package static func isNow(_ text: String) -> Bool { text.lowercased() == "now" }
}

extension SQLTokenizer {
  /// All names in a text, in lower case. They include the names of tables, and others.
  package static func names(in sql: String) -> Set<String> {
    let tokenizer = SQLTokenizer(sql)
    return Set(tokenizer.lazy.filter { $0.kind.mayBeName }.map { tokenizer.unquotedText(of: $0).lowercased() })
  }
}
