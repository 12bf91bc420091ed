import LiveQuery
import Store

/// SQL that a fragment may not contain although SQLite would run it.
enum FragmentRules {
  /// - Parameter mayChange: whether the query has a `refreshEvery`, and so may depend on time and chance.
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

  /// A value that depends on the time cannot be followed by looking at changes.
  private static func refuseNow(_ fragment: SQLFragment) throws(FreshetError) {
    guard let what = ChangingSQL.first(in: fragment.tokens, fragment.tokenizer) else { return }
    // The authorizer refuses the others by name, with a message of its own.
    if what == "'now'" || AllowedFunctions.temporal.contains(what) { throw changing(fragment, what) }
  }

  private static func changing(_ fragment: SQLFragment, _ what: String) -> FreshetError {
    .badQuery(
      "\(fragment.place): the result depends on the time (\(what)), so no change of the database tells when it is another "
        + "one: give the query a refreshEvery, in seconds")
  }
}
