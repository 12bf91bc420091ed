import Store

// As much of the grammar as is needed to find the parts of a fragment.
extension SQLFragment {
  /// Indexes of the tokens at which the name of a table stands, or a text that SQLite takes for one: behind FROM, JOIN,
  /// IN and the commas of FROM. Elsewhere a name is a column's or an alias, and a text is a text, whatever tables there
  /// are.
  var tablePlaces: Set<Int> {
    var places: Set<Int> = []
    // By depth of parentheses, whether a FROM clause is being read.
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

  /// The effect of a word on the tokens behind it; nil: no effect.
  private func expectation(behind word: String, at index: Int) -> (opensFrom: Bool?, expected: Expected)? {
    switch word {
    case "FROM":
      // `a IS DISTINCT FROM b` is a comparison.
      return index > 1 && keyword(at: index - 1) == "DISTINCT" ? nil : (true, .source)
    case "JOIN": return (true, .source)
    case "IN": return (nil, .operand)
    case "ON", "USING": return (nil, .nothing)
    case "SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "VALUES":
      return (false, .nothing)
    default: return nil
    }
  }

  /// The token behind the parenthesis that opens at an index; nil: none does.
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

  /// The tokens of a range that are outside of its parentheses, without the parentheses.
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

  /// The commas of a range that stand in none of its parentheses.
  func commas(in range: Range<Int>) -> [Int] { outermost(range).filter { text(of: tokens[$0]) == "," } }

  /// The words of a range that stand in none of its parentheses, in upper case, each with its first place.
  func words(in range: Range<Int>) -> [String: Int] {
    Dictionary(outermost(range).compactMap { index in keyword(at: index).map { ($0, index) } }) { first, _ in first }
  }

  /// The conditions that all have to hold for the fragment to hold: the parts between its outermost ANDs.
  var conjuncts: [Range<Int>] { conjuncts(of: tokens.indices) }

  func conjuncts(of range: Range<Int>) -> [Range<Int>] {
    if range.count > 2, endOfParenthesis(openedAt: range.lowerBound) == range.upperBound,
      keyword(at: range.lowerBound + 1) != "SELECT"
    {
      return conjuncts(of: range.dropFirst().dropLast())
    }
    var parts: [Range<Int>] = []
    var start = range.lowerBound
    // The depth of parentheses and CASE; the number of ANDs that belong to a BETWEEN.
    var (depth, between) = (0, 0)
    for index in range {
      switch keyword(at: index) ?? text(of: tokens[index]) {
      case "(", "CASE": depth += 1
      case ")", "END": depth -= 1
      case "BETWEEN" where depth == 0: between += 1
      // It binds less than AND.
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

  /// Whether a SELECT stands in some of the tokens, or a table on the right side of IN.
  func hasSubquery(in range: Range<Int>) -> Bool {
    range.contains { index in
      guard let word = keyword(at: index) else { return false }
      let isTableOperand = word == "IN" && index + 1 < tokens.count && text(of: tokens[index + 1]) != "("
      return word == "SELECT" || word == "VALUES" || isTableOperand
    }
  }
}
