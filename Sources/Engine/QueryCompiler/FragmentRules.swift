import LiveQuery
import Store

/// What a fragment may not hold although SQLite would run it.
enum FragmentRules {
  /// - Parameter mayChange: whether the query says how often it is to be run again, and so may depend on time and chance.
  static func check(_ fragment: SQLFragment, mayChange: Bool) throws(FreshetError) {
    try StatementRules.check(of: fragment.tokens, in: fragment.tokenizer, place: fragment.place)
    if !mayChange { try refuseNow(fragment) }
  }

  /// `main.name` is the table itself, whatever a role may read of it.
  static func refuseSchemaNames(_ fragment: SQLFragment) throws(FreshetError) {
    for (index, token) in fragment.tokens.enumerated().dropLast()
    where fragment.text(of: fragment.tokens[index + 1]) == "." {
      let name = fragment.unquoted(token)
      if isSameName(name, "main") || isSameName(name, "temp") {
        throw FreshetError(.notAllowed, "\(fragment.place): write names without \(name).")
      }
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
