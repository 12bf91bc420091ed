import LiveQuery
import Store

/// Replaces the calls of aggregate functions in a query's expressions by columns of a table of groups.
///
/// It recognizes calls and expressions of `groupBy` by their tokens. SQLite then checks whether the rest is valid over
/// that table: a column that is neither in a call nor in `groupBy` does not exist there.
struct AggregateRewriter {
  /// A call as it was written.
  struct Call {
    var plan: AggregatePlan.Call
    /// The argument as an expression of a row of FROM. It is NULL for rows that do not count.
    var argument: String
    /// Whether the result depends on the order of rows if several values are equal.
    var dependsOnOrder: Bool
  }

  /// A term of `groupBy`.
  struct Group {
    /// The tokens of the term, in a form in which equal terms have equal tokens.
    var words: [String]
    var reference: QueryCompiler.ColumnReference?
    /// The SQL that replaces the term.
    var replacement: String
  }

  private(set) var calls: [Call] = []
  private let groups: [Group]
  private let reference: (SQLFragment) -> QueryCompiler.ColumnReference?
  /// Whether SQLite compares the values of an argument byte by byte.
  private let isBinary: (String) -> Bool
  /// Whether equal values of an argument may differ, as 1 and 1.0 do.
  private let mayDiffer: (String) -> Bool

  /// - Parameters:
  ///   - reference: returns the column that a fragment consists of.
  ///   - isBinary: whether SQLite compares the values of an expression as BINARY.
  ///   - mayDiffer: whether equal values of an expression may differ, as 1 and 1.0 do.
  init(
    _ groups: [Group], reference: @escaping (SQLFragment) -> QueryCompiler.ColumnReference?,
    isBinary: @escaping (String) -> Bool, mayDiffer: @escaping (String) -> Bool
  ) {
    self.groups = groups
    self.reference = reference
    self.isBinary = isBinary
    self.mayDiffer = mayDiffer
  }

  private static let functions: [String: AggregatePlan.Call.Function] = [
    "count": .count, "sum": .sum, "total": .total, "avg": .average, "min": .minimum, "max": .maximum,
  ]
  /// Functions whose results depend on the order of rows.
  private static let ordered: Set<String> = ["group_concat", "string_agg", "json_group_array", "json_group_object"]

  /// - Returns: the expression over the table of groups; nil if it cannot be expressed over that table.
  mutating func rewritten(_ sql: String) -> String? {
    guard let fragment = try? SQLFragment(sql, place: ""), !fragment.hasSubquery else { return nil }
    var replacements: [Int: String] = [:]
    var index = 0
    while index < fragment.tokens.count {
      if let end = groupEnd(fragment, index, &replacements) {
        index = end
        continue
      }
      if let close = fragment.endOfParenthesis(openedAt: index + 1),
        let name = fragment.name(of: fragment.tokens[index])?.lowercased()
      {
        if Self.ordered.contains(name) { return nil }
        if let function = Self.functions[name] {
          let isScalar = [.minimum, .maximum].contains(function) && !fragment.commas(in: index + 2..<close - 1).isEmpty
          if !isScalar {
            guard let end = takeCall(function, fragment, index, close, &replacements) else { return nil }
            index = end
            continue
          }
        }
      }
      index += 1
    }
    return try? fragment.replacing { replacements[$0] }
  }

  /// Replaces the tokens of a range by a text: the first token gets the text, the others are left out.
  private static func replace(_ range: Range<Int>, by text: String, _ replacements: inout [Int: String]) {
    for index in range { replacements[index] = "" }
    replacements[range.lowerBound] = " \(text) "
  }

  // MARK: - Calls

  /// - Parameter close: the index after the call's closing parenthesis.
  /// - Returns: the index after the call, FILTER included; nil if the call cannot be kept up to date.
  private mutating func takeCall(
    _ function: AggregatePlan.Call.Function, _ fragment: SQLFragment, _ start: Int, _ close: Int,
    _ replacements: inout [Int: String]
  ) -> Int? {
    var first = start + 2
    let isDistinct = fragment.keyword(at: first) == "DISTINCT"
    if isDistinct || fragment.keyword(at: first) == "ALL" { first += 1 }
    let argument = fragment.text(of: first..<close - 1)
    var end = close
    var filter: String?
    if fragment.keyword(at: close) == "FILTER", fragment.keyword(at: close + 2) == "WHERE",
      let behind = fragment.endOfParenthesis(openedAt: close + 1)
    {
      end = behind
      filter = fragment.text(of: close + 3..<end - 1)
    }
    if fragment.keyword(at: end) == "OVER" { return nil }
    guard let call = call(function, isDistinct: isDistinct, argument, filter: filter) else { return nil }
    Self.replace(start..<end, by: "(+\(AggregatePlan.callColumn(number(of: call))))", &replacements)
    return end
  }

  private func call(
    _ function: AggregatePlan.Call.Function, isDistinct: Bool, _ argument: String, filter: String?
  ) -> Call? {
    var value = "1"
    if function != .count || !(argument.isEmpty || argument == "*") {
      // Only under BINARY does it not depend on the order of rows which values are equal, and which of them is shown.
      if isDistinct || [.minimum, .maximum].contains(function), !isBinary(argument) { return nil }
      let isSum = [.sum, .total, .average].contains(function)
      value = isSum && !isDistinct ? "\(AggregatePlan.number)(\(argument))" : "(\(argument))"
    }
    if let filter { value = "CASE WHEN (\(filter)) THEN \(value) END" }
    let plan = AggregatePlan.Call(function, isDistinct: isDistinct)
    return Call(plan: plan, argument: value, dependsOnOrder: plan.showsOneOfEqualValues && mayDiffer(argument))
  }

  private mutating func number(of call: Call) -> Int {
    if let known = calls.firstIndex(where: { $0.plan == call.plan && $0.argument == call.argument }) { return known }
    calls.append(call)
    return calls.count - 1
  }

  // MARK: - Groups

  /// - Returns: the index after an expression of `groupBy` that begins at `start`.
  private func groupEnd(_ fragment: SQLFragment, _ start: Int, _ replacements: inout [Int: String]) -> Int? {
    if start > 0, fragment.text(of: fragment.tokens[start - 1]) == "." { return nil }
    for group in groups {
      guard let end = end(of: group, fragment, start) else { continue }
      if end < fragment.tokens.count, [".", "("].contains(fragment.text(of: fragment.tokens[end])) { continue }
      Self.replace(start..<end, by: group.replacement, &replacements)
      return end
    }
    return nil
  }

  private func end(of group: Group, _ fragment: SQLFragment, _ start: Int) -> Int? {
    let end = start + group.words.count
    if end <= fragment.tokens.count,
      zip(start..<end, group.words).allSatisfy({ Self.word(fragment, $0) == $1 })
    {
      return end
    }
    guard let wanted = group.reference, fragment.name(of: fragment.tokens[start]) != nil else { return nil }
    // A column may be written with or without its table.
    var end2 = start + 1
    while end2 + 1 < fragment.tokens.count, fragment.text(of: fragment.tokens[end2]) == ".",
      fragment.name(of: fragment.tokens[end2 + 1]) != nil
    {
      end2 += 2
    }
    guard let name = try? SQLFragment(fragment.text(of: start..<end2), place: ""), reference(name) == wanted else {
      return nil
    }
    return end2
  }

  /// The token in a form in which equal tokens have equal words.
  static func word(_ fragment: SQLFragment, _ index: Int) -> String {
    let token = fragment.tokens[index]
    if let name = fragment.name(of: token) { return name.lowercased() }
    return fragment.text(of: token)
  }

  static func words(_ fragment: SQLFragment) -> [String] { fragment.tokens.indices.map { word(fragment, $0) } }
}
