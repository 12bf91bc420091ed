import LiveQuery
import Store

/// Finds calls in a statement that fail for some values of a row.
///
/// SQLite evaluates the terms of WHERE in the order that is fastest. So a client's condition may be evaluated before
/// the role's filter, and an error would show what is in a row that the client may not read. Such statements get their
/// rows from shadows that filter first, and therefore cannot use the indexes of those tables.
enum FailingCalls {
  static func areIn(_ sql: String) -> Bool {
    let tokenizer = SQLTokenizer(sql)
    let tokens = tokenizer.filter { $0.kind != .comment }
    let texts = tokens.map { tokenizer.text(of: $0) }
    return tokens.indices.contains { index in
      let next = index + 1 < tokens.count ? tokens[index + 1] : nil
      let word = tokenizer.unquotedText(of: tokens[index]).lowercased()
      if texts[index] == "->" || texts[index] == "->>" { return true }
      guard [.identifier, .quotedIdentifier].contains(tokens[index].kind) else { return false }
      if word == "escape" { return true }
      if patternOperators.contains(word), tokens[index].kind == .identifier {
        // A pattern that is not a literal can be too long.
        return next.map { ![.string, .parameter].contains($0.kind) } ?? false
      }
      guard let next, tokenizer.text(of: next) == "(" else { return false }
      if tokens[index].kind == .identifier, keywords.contains(word) { return false }
      return !harmless.contains(word) && !word.hasPrefix(ReservedNames.prefix)
    }
  }

  private static let patternOperators: Set<String> = ["like", "glob", "regexp"]

  /// Functions that do not fail for any values. Aggregates never see rows that are filtered out.
  private static let harmless: Set<String> = [
    "avg", "bm25", "coalesce", "count", "cume_dist", "date", "datetime", "dense_rank", "first_value", "highlight", "if",
    "ifnull",
    "iif", "instr", "json_valid", "julianday", "lag", "last_value", "lead", "length", "likelihood", "likely", "lower",
    "ltrim",
    "match", "max", "min", "nth_value", "ntile", "nullif", "octet_length", "percent_rank", "rank", "round",
    "row_number", "rtrim",
    "sign", "snippet", "substr", "substring", "sum", "time", "timediff", "total", "trim", "typeof", "unicode",
    "unixepoch",
    "unlikely", "upper",
  ]

  /// Words before a parenthesis that are not the name of a function.
  private static let keywords: Set<String> = [
    "all", "and", "as", "between", "by", "case", "cast", "cross", "distinct", "else", "except", "exists", "filter",
    "from", "having",
    "in", "inner", "intersect", "is", "join", "left", "limit", "materialized", "natural", "not", "offset", "on", "or",
    "over",
    "partition", "right", "select", "then", "union", "using", "values", "when", "where",
  ]
}
