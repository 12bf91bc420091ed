import LiveQuery

/// `from` with one table: `table`, `table alias`, `table AS alias`, each name quoted or not.
struct TableReference {
  /// The table's name, quotes removed.
  let table: String
  /// How expressions refer to it, as SQL.
  let qualifier: String
  /// The fragment as SQL.
  let sql: String

  init(_ text: String) throws(FreshetError) {
    let fragment: SQLFragment
    do throws(FreshetError) { fragment = try SQLFragment(text, place: "from") } catch {
      if SQLTokenizer(text).contains(where: { $0.kind == .symbol }) { throw TableReference.notOneTable }
      throw error
    }
    var names = fragment.tokens[...]
    if names.count > 2, fragment.text(of: names[1]) == "." {
      guard fragment.name(of: names[0])?.lowercased() == "main" else {
        throw FreshetError(.notAllowed, "from: only the schema main is served")
      }
      names = names.dropFirst(2)
    }
    let hasAs = names.count == 3 && fragment.keyword(at: names.startIndex + 1) == "AS"
    guard let table = names.first.flatMap(fragment.name(of:)), names.count <= 2 || hasAs,
      let alias = names.last, fragment.name(of: alias) != nil
    else { throw TableReference.notOneTable }
    self.table = table
    qualifier = fragment.text(of: alias)
    sql = fragment.text
  }

  private static let notOneTable = FreshetError.badQuery(
    "from must be one table: joins and subqueries are not served yet")
}
