import LiveQuery
import Store

/// Rejects SQL that SQLite would run but that a fragment may not contain.
enum FragmentRules {
  /// - Parameter mayChange: whether the query has a `refreshEvery`, so that it may depend on time and random numbers.
  static func check(_ fragment: SQLFragment, mayChange: Bool) throws(FreshetError) {
    try StatementRules.check(of: fragment.tokens, in: fragment.tokenizer, place: fragment.place)
    if !mayChange { try refuseNow(fragment) }
  }

  /// Rejects `main.name`, which means the table itself, whatever a role may read of it.
  static func refuseSchemaNames(_ fragment: SQLFragment) throws(FreshetError) {
    for (index, token) in fragment.tokens.enumerated().dropLast()
    where fragment.text(of: fragment.tokens[index + 1]) == "." {
      let name = fragment.unquoted(token)
      if isSameName(name, "main") || isSameName(name, "temp") {
        throw FreshetError(.notAllowed, "\(fragment.place): write names without \(name).")
      }
    }
  }

  /// Rejects values that depend on the time, because they change without a change of the database.
  private static func refuseNow(_ fragment: SQLFragment) throws(FreshetError) {
    guard let what = ChangingSQL.first(in: fragment.tokens, fragment.tokenizer) else { return }
    // The authorizer rejects the other functions by name, with a message of its own.
    if what == "'now'" || AllowedFunctions.temporal.contains(what) { throw changing(fragment, what) }
  }

  private static func changing(_ fragment: SQLFragment, _ what: String) -> FreshetError {
    .badQuery(
      "\(fragment.place): the result depends on the time (\(what)), so no change of the database tells when it is another "
        + "one: give the query a refreshEvery, in seconds")
  }
}
