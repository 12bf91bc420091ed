import Store

// Knows only as much of the grammar as is needed to find the parts of a fragment.
extension SQLFragment {
  /// Indexes of the tokens that are names of tables, or strings that SQLite reads as such: after FROM, JOIN, IN and the
  /// commas of FROM. Elsewhere a name is that of a column or an alias, and a string is a text, even if a table has this
  /// name.
  var tablePlaces: Set<Int> {
    var places: Set<Int> = []
    // Whether a FROM clause is being read, by depth of parentheses.
    var isFrom = [kind == .tables]
    var expected = kind == .tables ? Expected.source : .nothing
    for index in tokens.indices {
      let text = text(of: tokens[index])
      if text == "(" {
        isFrom.append(expected == .source)
        if expected == .operand { expected = .nothing }
      } else if text == ")" {
        isFrom.removeLast()
        expected = .nothing
      } else if text == "," {
        expected = isFrom.last == true ? .source : .nothing
      } else if let next = keyword(at: index).flatMap({ expectation(behind: $0, at: index) }) {
        if next.opensFrom != nil { isFrom[isFrom.count - 1] = next.opensFrom == true }
        expected = next.expected
      } else if expected != .nothing, index + 1 >= tokens.count || self.text(of: tokens[index + 1]) != ".", text != "."
      {
        places.insert(index)
        expected = .nothing
      }
    }
    return places
  }

  private enum Expected {
    case nothing
    /// A joined source.
    case source
    /// The right side of IN: a table, or a list in parentheses.
    case operand
  }

  /// The effect of a word on the tokens after it; nil if it has no effect.
  private func expectation(behind word: String, at index: Int) -> (opensFrom: Bool?, expected: Expected)? {
    switch word {
    case "FROM":
      // In `a IS DISTINCT FROM b`, FROM is part of a comparison.
      return index > 1 && keyword(at: index - 1) == "DISTINCT" ? nil : (true, .source)
    case "JOIN": return (true, .source)
    case "IN": return (nil, .operand)
    case "ON", "USING": return (nil, .nothing)
    case "SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "VALUES":
      return (false, .nothing)
    default: return nil
    }
  }

  /// The index after the parenthesis that opens at an index; nil if no parenthesis opens there, or it is not closed.
  func endOfParenthesis(openedAt start: Int) -> Int? {
    guard start < tokens.count, text(of: tokens[start]) == "(" else { return nil }
    var depth = 0
    for index in start..<tokens.count {
      switch text(of: tokens[index]) {
      case "(": depth += 1
      case ")":
        depth -= 1
        if depth == 0 { return index + 1 }
      default: break
      }
    }
    return nil
  }

  /// The indexes of a range's tokens that are outside of all its parentheses.
  func outermost(_ range: Range<Int>) -> [Int] {
    var found: [Int] = []
    var index = range.lowerBound
    while index < range.upperBound {
      if let end = endOfParenthesis(openedAt: index) {
        index = end
      } else {
        found.append(index)
        index += 1
      }
    }
    return found
  }

  /// The commas of a range that are outside of all its parentheses.
  func commas(in range: Range<Int>) -> [Int] { outermost(range).filter { text(of: tokens[$0]) == "," } }

  /// The words of a range that are outside of all its parentheses, in upper case, each with its first index.
  func words(in range: Range<Int>) -> [String: Int] {
    Dictionary(outermost(range).compactMap { index in keyword(at: index).map { ($0, index) } }) { first, _ in first }
  }

  /// The conditions that the fragment requires: the parts between its outermost ANDs.
  var conjuncts: [Range<Int>] { conjuncts(of: tokens.indices) }

  func conjuncts(of range: Range<Int>) -> [Range<Int>] {
    if range.count > 2, endOfParenthesis(openedAt: range.lowerBound) == range.upperBound,
      keyword(at: range.lowerBound + 1) != "SELECT"
    {
      return conjuncts(of: range.dropFirst().dropLast())
    }
    var parts: [Range<Int>] = []
    var start = range.lowerBound
    // The depth of parentheses and CASE, and the number of ANDs that belong to a BETWEEN.
    var (depth, between) = (0, 0)
    for index in range {
      switch keyword(at: index) ?? text(of: tokens[index]) {
      case "(", "CASE": depth += 1
      case ")", "END": depth -= 1
      case "BETWEEN" where depth == 0: between += 1
      // OR binds less tightly than AND, so the fragment is one condition.
      case "OR" where depth == 0: return [range]
      case "AND" where depth == 0:
        if between > 0 {
          between -= 1
        } else {
          parts.append(start..<index)
          start = index + 1
        }
      default: break
      }
    }
    parts.append(start..<range.upperBound)
    return parts.count > 1 ? parts.flatMap { conjuncts(of: $0) } : [range]
  }

  /// Whether some of the tokens are a SELECT, or a table on the right side of IN.
  func hasSubquery(in range: Range<Int>) -> Bool {
    range.contains { index in
      guard let word = keyword(at: index) else { return false }
      let isTableOperand = word == "IN" && index + 1 < tokens.count && text(of: tokens[index + 1]) != "("
      return word == "SELECT" || word == "VALUES" || isTableOperand
    }
  }
}
