import LiveQuery
import Store

/// Takes the calls of aggregate functions out of a query's expressions, and leaves columns of a table of groups in
/// their place.
///
/// It knows what a call and a group's expression look like, token by token; whether what is left means anything over
/// that table is SQLite's to judge: a column that is neither in a call nor in `groupBy` is then no column at all.
struct AggregateRewriter {
  /// A call as it was written.
  struct Call {
    var plan: AggregatePlan.Call
    /// The argument as an expression of a row of FROM, NULL for rows that do not count.
    var argument: String
    /// Whether the result depends on which of several equal values comes first.
    var dependsOnOrder: Bool
  }

  /// A term of `groupBy`.
  struct Group {
    /// Its tokens, in a form in which equal ones are equal.
    var words: [String]
    var reference: QueryCompiler.ColumnReference?
    /// The SQL in its place.
    var replacement: String
  }

  private(set) var calls: [Call] = []
  private let groups: [Group]
  private let reference: (SQLFragment) -> QueryCompiler.ColumnReference?
  /// Whether an argument is compared byte by byte.
  private let isBinary: (String) -> Bool
  /// Whether equal values of an argument may be different ones, as 1 and 1.0 are.
  private let mayDiffer: (String) -> Bool

  /// - Parameters:
  ///   - reference: the column that a fragment is.
  ///   - isBinary: whether SQLite compares the values of an expression as BINARY.
  ///   - mayDiffer: whether equal values of an expression may be different ones.
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
  /// Their results depend on the order of rows.
  private static let ordered: Set<String> = ["group_concat", "string_agg", "json_group_array", "json_group_object"]

  /// - Returns: the expression over the table of groups; nil where that has none.
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

  /// Replaces the tokens of a range: the first gets the text, the others are left out.
  private static func replace(_ range: Range<Int>, by text: String, _ replacements: inout [Int: String]) {
    for index in range { replacements[index] = "" }
    replacements[range.lowerBound] = " \(text) "
  }

  // MARK: - Calls

  /// - Parameter close: the token behind the call's parenthesis.
  /// - Returns: the token behind the call; nil: it cannot be kept up to date.
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
      // Which of several equal values is shown, and which are equal, is for BINARY alone the same in any order.
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

  /// - Returns: the token behind a group's expression that begins at an index.
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
    // A column may be written with its table, or without.
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

  /// A token in a form in which equal ones are equal.
  static func word(_ fragment: SQLFragment, _ index: Int) -> String {
    let token = fragment.tokens[index]
    if let name = fragment.name(of: token) { return name.lowercased() }
    return fragment.text(of: token)
  }

  static func words(_ fragment: SQLFragment) -> [String] { fragment.tokens.indices.map { word(fragment, $0) } }
}
