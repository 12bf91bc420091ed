import LiveQuery
import Store

/// A parsed term of `orderBy`: the expression, and the words after it.
struct SortTerm {
  var expression: SQLFragment
  var isDescending = false
  var nullsFirst: Bool?

  /// Parses `expr [ASC | DESC] [NULLS FIRST | NULLS LAST]`. DESC and ASC may also be names of columns, if they are the
  /// whole term or follow a dot.
  init(_ whole: SQLFragment) throws(FreshetError) {
    var count = whole.tokens.count
    if count > 2, whole.keyword(at: count - 2) == "NULLS", let word = whole.keyword(at: count - 1),
      word == "FIRST" || word == "LAST"
    {
      nullsFirst = word == "FIRST"
      count -= 2
    }
    if count > 1, let word = whole.keyword(at: count - 1), word == "ASC" || word == "DESC",
      whole.text(of: whole.tokens[count - 2]) != "."
    {
      isDescending = word == "DESC"
      count -= 1
    }
    expression = try whole.prefix(count)
    if expression.tokens.count == 1, expression.tokens[0].kind == .number {
      throw .badQuery("\(whole.place): name a column; \(expression.text) is a constant")
    }
  }
}
