import GRDB
import LiveQuery

/// An index that makes REPLACE delete rows other than the one it writes.
struct UniqueIndex: Equatable {
  enum Term: Equatable {
    case column(String)
    /// An expression over the table's columns, in its own SQL.
    case expression(String)
  }

  struct Part: Equatable {
    let term: Term
    /// The index's own collation, which may differ from the column's.
    let collation: String
  }

  let parts: [Part]
  /// The condition of a partial index, in its own SQL.
  let condition: String?
  let isPrimaryKey: Bool

  /// Its columns, each once, as the columns of a key.
  var distinctColumns: [KeyColumn] {
    var result: [KeyColumn] = []
    for case (.column(let name), let collation) in parts.map({ ($0.term, $0.collation) })
    where !result.contains(where: { isSameName($0.name, name) }) {
      result.append(KeyColumn(name: name, collation: collation))
    }
    return result
  }

  static func readAll(_ db: Database, table: String) throws -> [UniqueIndex] {
    let sql = """
      SELECT list.name, list.origin, master.sql
      FROM pragma_index_list(?1, 'main') AS list
      LEFT JOIN main.sqlite_master AS master ON master.type = 'index' AND master.name = list.name
      WHERE list."unique" ORDER BY list.name
      """
    return try Row.fetchAll(db, sql: sql, arguments: [table]).map { row in
      // Only CREATE INDEX has expressions and a condition; the indexes of constraints have no SQL.
      let definition = (row["sql"] as String?).map(IndexDefinition.init)
      let partsSQL = "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno"
      let parts = try Row.fetchAll(db, sql: partsSQL, arguments: [row["name"] as String])
        .enumerated().map { position, part in
          let column = (part["name"] as String?).map(Term.column)
          return Part(
            term: try column ?? .expression(definition.expression(at: position)), collation: part["coll"])
        }
      return UniqueIndex(
        parts: parts, condition: definition?.condition, isPrimaryKey: row["origin"] == "pk")
    }
  }
}

/// The text of a CREATE INDEX statement, cut into its terms and its condition.
struct IndexDefinition: Equatable {
  /// What the index is on, without ASC and DESC; comments are left out.
  let terms: [String]
  let condition: String?

  init(sql: String) {
    let tokenizer = SQLTokenizer(sql)
    let tokens = tokenizer.filter { $0.kind != .comment }.map { Word(text: tokenizer.text(of: $0), kind: $0.kind) }
    // CREATE UNIQUE INDEX name ON table (term, …) WHERE condition
    let on = tokens.firstIndex { $0.isKeyword("ON") } ?? tokens.endIndex
    var terms: [[Word]] = [[]]
    var depth = 0
    var position = tokens.index(on, offsetBy: 2, limitedBy: tokens.endIndex) ?? tokens.endIndex
    repeat {
      guard position < tokens.endIndex else { break }
      let token = tokens[position]
      position += 1
      if token.text == ")" { depth -= 1 }
      if depth == 1 && token.text == "," {
        terms.append([])
      } else if depth > 0 {
        terms[terms.count - 1].append(token)
      }
      if token.text == "(" { depth += 1 }
    } while depth > 0
    self.terms = terms.map { term in
      let hasOrder = term.last.map { $0.isKeyword("ASC") || $0.isKeyword("DESC") } ?? false
      return Self.text(hasOrder ? term.dropLast() : term[...])
    }
    let rest = tokens[position...]
    condition =
      rest.first?.isKeyword("WHERE") == true ? Self.text(rest.dropFirst().filter { $0.text != ";" }[...]) : nil
  }

  private static func text(_ tokens: ArraySlice<Word>) -> String {
    tokens.map(\.text).joined(separator: " ")
  }

  private struct Word {
    let text: String
    let kind: SQLToken.Kind

    func isKeyword(_ keyword: String) -> Bool {
      kind == .identifier && isSameName(text, keyword)
    }
  }
}

extension IndexDefinition? {
  fileprivate func expression(at position: Int) throws(StoreError) -> String {
    guard let self, self.terms.indices.contains(position) else {
      throw StoreError(code: ErrorCode.internal, message: "an index on an expression has no readable SQL")
    }
    return self.terms[position]
  }
}
