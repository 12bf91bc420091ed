import LiveQuery

@testable import QueryCompiler
@testable import Store

/// Texts of SQL cut into tokens, as an expression, as tables and as a SELECT. No SQLite: it is fast.
enum FragmentTarget {
  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    let text = String(decoding: input, as: UTF8.self)
    checkTokens(text)
    for kind in [SQLFragment.Kind.expression, .tables, .statement] {
      guard let fragment = try? SQLFragment(text, place: "x", kind: kind) else { continue }
      checkFragment(fragment)
      _ = try? SortTerm(fragment)
    }
    if let from = try? FromClause(text) { checkFrom(from) }
    return true
  }

  private static func checkTokens(_ text: String) {
    let tokenizer = SQLTokenizer(text)
    var end = 0
    for token in tokenizer {
      check(token.range.lowerBound >= end, "tokens overlap")
      check(!token.range.isEmpty && token.range.upperBound <= text.utf8.count, "a token is beyond the text")
      end = token.range.upperBound
      check(!tokenizer.text(of: token).isEmpty, "a token without a text")
      _ = tokenizer.unquotedText(of: token)
    }
  }

  private static func checkFragment(_ fragment: SQLFragment) {
    let bytes = Array(fragment.text.utf8)
    check(
      (try? fragment.replacing { _ in nil }).map { Array($0.utf8) == bytes } ?? false, "nothing replaced is no copy")
    // The tokens of a text whose tokens are replaced by themselves with blanks around are the same.
    if let spaced = try? fragment.replacing({ " \(fragment.text(of: fragment.tokens[$0])) " }) {
      let tokens = Array(SQLTokenizer(spaced))
      let texts = tokens.map { SQLTokenizer(spaced).text(of: $0) }
      check(texts == fragment.tokens.map { fragment.text(of: $0) }, "blanks make other tokens of \(fragment.text)")
    }
    _ = fragment.hasSubquery
    _ = fragment.isCostly
    for index in fragment.tokens.indices { _ = fragment.isLoneName(at: index) }
    _ = try? FragmentRules.check(fragment, mayChange: false)
    _ = try? FragmentRules.refuseSchemaNames(fragment)
    _ = fragment.text(of: 0..<fragment.tokens.count)
  }

  private static func checkFrom(_ from: FromClause) {
    var end = 0
    for (index, source) in from.sources.enumerated() {
      check(source.body.lowerBound >= end && source.end <= from.fragment.tokens.count, "a source out of place")
      check(source.constraint.isEmpty || source.constraint.upperBound <= source.end, "a condition beyond its source")
      end = source.end
      _ = source.name
      let prefix = try? from.prefix(through: index) { _ in nil }
      check(prefix.map { from.fragment.text.hasPrefix($0) } ?? true, "a prefix that is none")
    }
  }
}
