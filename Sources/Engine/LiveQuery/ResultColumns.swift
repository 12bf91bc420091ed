/// The columns of a SELECT's result, by which terms refer to them.
package struct ResultColumns {
  private struct Column {
    /// The text of the column, with its alias.
    let item: String
    let expression: String
    /// The column's name; nil if only SQLite knows it.
    let name: String?
    /// Whether the expression is just the name of a column.
    let isReference: Bool
  }

  private let columns: [Column]
  /// Indexes of columns by lower-case name, and by expression. If several are the same, the first counts.
  private let byName: [String: Int]
  private let byExpression: [String: Int]
  /// The number of columns before the first `*`. The numbers of columns after it are unknown.
  private let firstStar: Int

  package init(_ core: SelectStatement.Core) {
    columns = core.columns.map(Self.column)
    let named = columns.enumerated().compactMap { index, column in column.name.map { ($0.lowercased(), index) } }
    byName = Dictionary(named) { first, _ in first }
    firstStar = columns.firstIndex { $0.item.hasSuffix("*") } ?? columns.count
    byExpression = Dictionary(columns.enumerated().map { ($1.expression, $0) }) { first, _ in first }
  }

  private static func column(_ item: String) -> Column {
    let tokenizer = SQLTokenizer(item)
    let tokens = Array(tokenizer)
    let name = { (index: Int) in tokens[index].kind.mayBeName ? tokenizer.unquotedText(of: tokens[index]) : nil }
    let isReference =
      tokens.count % 2 == 1 && tokens.count <= 5 && tokens.last?.kind != .string
      && tokens.indices.allSatisfy { $0 % 2 == 1 ? tokenizer.text(of: tokens[$0]) == "." : name($0) != nil }
    guard let length = expressionLength(tokens, tokenizer) else {
      return Column(
        item: item, expression: item, name: isReference ? name(tokens.count - 1) : nil, isReference: isReference)
    }
    let expression = String(decoding: Array(item.utf8)[..<tokens[length - 1].range.upperBound], as: UTF8.self)
    return Column(
      item: item, expression: expression, name: name(tokens.count - 1), isReference: column(expression).isReference)
  }

  /// Words that continue an expression, and words that end one.
  private static let operators: Set<String> = [
    "AND", "OR", "NOT", "IS", "IN", "LIKE", "GLOB", "MATCH", "REGEXP", "ESCAPE", "BETWEEN", "COLLATE", "OVER",
    "CASE", "WHEN", "THEN", "ELSE", "DISTINCT", "FROM", "EXISTS",
  ]
  private static let endings: Set<String> = ["END", "NULL", "ISNULL", "NOTNULL"]

  /// The number of tokens before a column's alias, which may follow AS; nil if there is no alias.
  private static func expressionLength(_ tokens: [SQLToken], _ tokenizer: SQLTokenizer) -> Int? {
    guard tokens.count > 1, let last = tokens.last, last.kind.mayBeName else { return nil }
    let before = tokens[tokens.count - 2]
    let (word, ending) = (tokenizer.text(of: before).uppercased(), tokenizer.text(of: last).uppercased())
    if before.kind == .identifier, word == "AS" { return tokens.count > 2 ? tokens.count - 2 : nil }
    if last.kind == .identifier, endings.contains(ending) { return nil }
    switch before.kind {
    case .identifier: return operators.contains(word) ? nil : tokens.count - 1
    case .symbol: return word == ")" ? tokens.count - 1 : nil
    default: return tokens.count - 1
    }
  }

  /// Whether the columns have parameters without a number (`?`), which would be two parameters if they were written
  /// twice.
  var areCounted: Bool {
    columns.contains { column in
      let tokenizer = SQLTokenizer(column.item)
      return tokenizer.contains { $0.kind == .parameter && tokenizer.text(of: $0) == "?" }
    }
  }

  /// Whether the name of a column is the alias of another column (`upper(name) AS name, name AS original`), so that the
  /// name would refer to the other.
  var areCrossed: Bool {
    columns.contains { column in
      guard column.isReference, let name = name(column.expression), let other = self.column(named: name) else {
        return false
      }
      return other.expression != column.expression
    }
  }

  package var expressions: [String] { columns.map(\.expression) }

  private func column(named name: String) -> Column? { byName[name.lowercased()].map { columns[$0] } }

  private func ordinal(_ text: String) -> Column? {
    guard let number = Int(text), columns.indices.contains(number - 1) else { return nil }
    return number <= firstStar ? columns[number - 1] : nil
  }

  /// The name of a table's column in the result; nil if the result does not have the column.
  ///
  /// - Parameter isOnly: whether the SELECT reads no other table, so that columns need not be qualified.
  func name(of column: String, in table: String, isOnly: Bool) -> String? {
    for each in columns {
      let tokenizer = SQLTokenizer(each.expression)
      let parts = tokenizer.map { tokenizer.unquotedText(of: $0).lowercased() }.filter { $0 != "." }
      let isOfTable = parts.count == 1 ? isOnly : parts.dropLast().last == table.lowercased()
      if isOfTable, parts.last == "*" { return column }
      if isOfTable, each.isReference, parts.last == column.lowercased() { return each.name }
    }
    return nil
  }

  /// A term of GROUP BY, with the number of a column replaced by the column.
  package func ordinal(_ term: String) -> String { ordinal(term).map(\.expression) ?? term }

  /// A key column, with its alias.
  func item(_ text: String) -> String { name(text).flatMap(column(named:))?.item ?? text }

  /// A term of the SELECT's own order, with the number or name of a column replaced by the column.
  func term(_ term: String) -> String {
    replacingFirst(of: term) { $0.isReference ? $0.expression : "(\($0.expression))" } ?? term
  }

  /// As above, but replaced by the name of the column; nil if the term is not a column, or its name is unknown.
  package func name(ofTerm term: String) -> String? {
    replacingFirst(of: term) { $0.name.map { "\"\($0.replacing("\"", with: "\"\""))\"" } }
  }

  /// Replaces the column that a term begins with, up to COLLATE, ASC, DESC or NULLS. Nil if the term does not begin
  /// with a column.
  private func replacingFirst(of term: String, _ replacement: (Column) -> String?) -> String? {
    let tokenizer = SQLTokenizer(term)
    let tokens = Array(tokenizer)
    let end = tokens.firstIndex { ["COLLATE", "ASC", "DESC", "NULLS"].contains(tokenizer.text(of: $0).uppercased()) }
    let bytes = Array(term.utf8)
    let length = end.map { tokens[$0].range.lowerBound } ?? bytes.count
    var expression = String(decoding: bytes[..<length], as: UTF8.self)
    while expression.last?.isWhitespace == true { expression.removeLast() }
    guard let found = column(of: expression), let new = replacement(found) else { return nil }
    return end == nil ? new : "\(new) \(String(decoding: bytes[length...], as: UTF8.self))"
  }

  /// The name of the column that a term of GROUP BY is; nil if the term is not a column, or its name is unknown.
  func name(ofExpression text: String) -> String? { column(of: text)?.name }

  /// A column given by its number, name or expression. An unknown name may be a column of `*`.
  private func column(of text: String) -> Column? {
    let name = name(text)
    if let known = ordinal(text) ?? name.flatMap(column(named:)) ?? byExpression[text].map({ columns[$0] }) {
      return known
    }
    guard firstStar < columns.count, let name else { return nil }
    return Column(item: text, expression: text, name: name, isReference: true)
  }

  /// The identifier that a text consists of; nil if the text is anything else.
  private func name(_ text: String) -> String? {
    let tokenizer = SQLTokenizer(text)
    let tokens = Array(tokenizer)
    guard tokens.count == 1, [.identifier, .quotedIdentifier].contains(tokens[0].kind) else { return nil }
    return tokenizer.unquotedText(of: tokens[0])
  }

  /// Rewrites an expression over the result's columns as one over the SELECT's own tables.
  func meaning(of text: String) -> String {
    let tokenizer = SQLTokenizer(text)
    let tokens = Array(tokenizer)
    let bytes = Array(text.utf8)
    let around = { (index: Int) in tokens.indices.contains(index) ? tokenizer.text(of: tokens[index]) : "" }
    var result: [UInt8] = []
    var position = 0
    for (index, token) in tokens.enumerated() {
      guard [.identifier, .quotedIdentifier].contains(token.kind), around(index - 1) != ".",
        ![".", "("].contains(around(index + 1)), let column = column(named: tokenizer.unquotedText(of: token)),
        column.expression != column.item
      else { continue }
      result += bytes[position..<token.range.lowerBound]
      result += Array((column.isReference ? column.expression : "(\(column.expression))").utf8)
      position = token.range.upperBound
    }
    return String(decoding: result + bytes[position...], as: UTF8.self)
  }
}

extension SelectStatement {
  /// The key that identifies the rows of a SELECT's result.
  package enum Key: Equatable {
    case allColumns
    case columns([String])
    /// The text does not show a key.
    case unknown
  }

  /// The names of a table's columns in the SELECT's result; nil if the result lacks one of them.
  ///
  /// - Parameter isOnly: whether the SELECT reads no other table.
  package func names(of columns: [String], in table: String, isOnly: Bool) -> [String]? {
    let result = ResultColumns(cores[0])
    let names = columns.compactMap { result.name(of: $0, in: table, isOnly: isOnly) }
    return names.count == columns.count ? names : nil
  }

  /// The columns of the SELECT's result without their aliases.
  package var expressions: [String] { ResultColumns(cores[0]).expressions }

  package var key: Key {
    if let last = operators.last { return last == .unionAll ? .unknown : .allColumns }
    if cores[0].isDistinct { return .allColumns }
    let columns = ResultColumns(cores[0])
    let names = cores[0].groupBy.map(columns.name(ofExpression:))
    let known = names.compactMap(\.self)
    return known.isEmpty || known.count < names.count ? .unknown : .columns(known)
  }
}
