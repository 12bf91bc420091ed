import LiveQuery
import Store

// Rewrites a SELECT without WITH and WINDOW, with the same meaning, because queries that are followed by their parts
// cannot refer to such names.
extension SelectStatement {
  /// The SELECT with each common table written where it is read, and each window where it is used; nil if that is not
  /// possible.
  var inlined: SelectStatement? {
    if isRecursive { return nil }
    var tables: [String: String] = [:]
    for table in commonTables {
      guard let name = SQLFragment.name(of: table.name)?.lowercased(), !table.name.contains("("),
        table.hint != "AS MATERIALIZED", var select = SelectStatement(table.select),
        !Self.readsTable(in: table.select, .statement, { $0 == name }),
        select.put(tables)
      else { return nil }
      tables[name] = select.text
    }
    var result = self
    result.commonTables = []
    guard result.put(tables) else { return nil }
    for index in result.cores.indices where result.cores[index].windows != nil {
      guard cores.count == 1, result.cores[index].writeWindows() else { return nil }
    }
    return result
  }

  /// Replaces names of common tables in FROM by their SELECTs. The names are in lower case.
  ///
  /// - Returns: false if other parts name a common table, or may do so.
  private mutating func put(_ tables: [String: String]) -> Bool {
    if tables.isEmpty { return true }
    for index in cores.indices {
      guard let from = cores[index].from else { continue }
      guard let clause = try? FromClause(from), !clause.sources.isEmpty else { return false }
      var replacements: [Int: String] = [:]
      for source in clause.sources {
        guard let name = source.table, let select = tables[name.lowercased()] else { continue }
        for token in source.body.dropFirst() { replacements[token] = "" }
        replacements[source.body.lowerBound] =
          source.isNamed ? "(\(select))" : "(\(select)) AS \(source.qualifier ?? "")"
      }
      guard let text = try? clause.fragment.replacing({ replacements[$0] }) else { return false }
      // The meaning of such a name at other places is unknown.
      let known = Set(replacements.keys)
      let others = clause.fragment.tablePlaces.subtracting(known).map {
        clause.fragment.unquoted(clause.fragment.tokens[$0])
      }
      if others.contains(where: { tables[$0.lowercased()] != nil }) { return false }
      cores[index].from = text
    }
    return !expressions.contains { Self.readsTable(in: $0, .expression) { tables[$0] != nil } }
  }

  private var expressions: [String] {
    cores.flatMap { $0.columns + $0.groupBy + [$0.filter, $0.having].compactMap(\.self) } + orderBy
  }

  /// Whether SQL may read any of some tables.
  ///
  /// - Parameter isOne: whether a lower-case name is that of one of these tables.
  private static func readsTable(in sql: String, _ kind: SQLFragment.Kind, _ isOne: (String) -> Bool) -> Bool {
    guard let fragment = try? SQLFragment(sql, place: "", kind: kind) else { return true }
    return fragment.tablePlaces.contains { isOne(fragment.unquoted(fragment.tokens[$0]).lowercased()) }
  }
}

extension SelectStatement.Core {
  /// Replaces names of windows by their definitions.
  ///
  /// - Returns: false if a window extends another.
  fileprivate mutating func writeWindows() -> Bool {
    guard let windows, let list = try? SQLFragment(windows, place: "", kind: .tables) else { return false }
    var definitions: [String: String] = [:]
    var index = 0
    while index < list.tokens.count {
      guard let name = list.name(of: list.tokens[index]), list.keyword(at: index + 1) == "AS",
        let end = list.endOfParenthesis(openedAt: index + 2)
      else { return false }
      definitions[name.lowercased()] = list.text(of: index + 2..<end)
      index = end + 1
    }
    var written: [String] = []
    for column in columns {
      guard let fragment = try? SQLFragment(column, place: "") else { return false }
      let text = try? fragment.replacing { index in
        guard index > 0, fragment.isWindow(at: index - 1), let name = fragment.name(of: fragment.tokens[index]) else {
          return nil
        }
        return definitions[name.lowercased()]
      }
      guard let text else { return false }
      written.append(text)
    }
    columns = written
    self.windows = nil
    return true
  }
}
