import LiveQuery
import Store

/// A query's SQL without anything that may be a value, for an operator's log.
///
/// SQLite reads a double-quoted name as a text if no column has the name. So double-quoted names are shown only where
/// they cannot be texts.
struct QueryOutline: CustomStringConvertible {
  let description: String

  init(_ query: Query) {
    var parts = ["SELECT \(Self.list(query.select, "*")) FROM \(Self.tables(of: query))"]
    if let filter = query.filter { parts.append("WHERE \(Self.outline(filter))") }
    if !query.groupBy.isEmpty { parts.append("GROUP BY \(Self.list(query.groupBy))") }
    if let having = query.having { parts.append("HAVING \(Self.outline(having))") }
    let sections = query.sectionBy.map { [$0.expression] } ?? []
    if !(sections + query.orderBy).isEmpty { parts.append("ORDER BY \(Self.list(sections + query.orderBy))") }
    description = parts.joined(separator: " ")
  }

  /// The `from` of the query, without anything that may be a value.
  static func tables(of query: Query) -> String { outline(query.from, beginsWithName: true) }

  private static func list(_ fragments: [String], _ none: String = "") -> String {
    fragments.isEmpty ? none : fragments.map { outline($0) }.joined(separator: ", ")
  }

  /// - Parameter beginsWithName: whether the first token names a table.
  private static func outline(_ fragment: String, beginsWithName: Bool = false) -> String {
    let tokens = SQLTokenizer(fragment)
    let all = Array(tokens)
    let texts = all.map { tokens.text(of: $0) }
    var shown: [String] = []
    for (index, token) in all.enumerated() {
      switch token.kind {
      case .comment: continue
      case .string, .blob, .number, .unterminated, .illegal: shown.append("?")
      case .quotedIdentifier:
        let isName =
          (beginsWithName && index == 0) || !texts[index].hasPrefix("\"") || (index > 0 && texts[index - 1] == ".")
          || (index + 1 < texts.count && texts[index + 1] == ".")
        shown.append(isName ? texts[index] : "?")
      case .identifier, .parameter, .symbol: shown.append(texts[index])
      }
    }
    return shown.joined(separator: " ").replacing(" . ", with: ".").replacing(" ,", with: ",")
  }
}
