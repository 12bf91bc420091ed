import LiveQuery
import Store

// For queries with window functions the unit is a *partition*: the rows with the same values of the terms that all
// windows of the query partition by. The value of a window function depends only on the rows of its partition. So a
// changed row concerns the partitions that it was in and is in, and the query restricted to these returns their rows as
// the whole query would. Rows that are equal in a window's order come in the order in which SQLite finds them, which
// may differ between a look-up and a run. Such a window should have a last term that distinguishes them.
extension QueryCompiler {
  /// The terms that every window of the query partitions by: columns and expressions of the first table. Empty if a
  /// window spans all rows.
  func partition() -> [(sql: String, order: FieldOrder)] {
    guard let windows = try? windows(), let first = windows.first else { return [] }
    var shared: [(sql: String, order: FieldOrder)] = []
    for term in first where windows.allSatisfy({ $0.contains { isSame($0, term) } }) {
      guard isOfBase(term.text), let collation = try? collation(of: term.text, place: term.place, isRow: true) else {
        continue
      }
      shared.append((term.text, FieldOrder(collation: collation)))
    }
    return shared
  }

  /// The terms that each window partitions by; nil if one of the windows is not understood.
  private func windows() throws(FreshetError) -> [[SQLFragment]]? {
    var windows: [[SQLFragment]] = []
    let fragments = [self.fragments.section, self.fragments.sectionName, self.fragments.indexTitle].compactMap(\.self)
    for fragment in fragments + self.fragments.select.map(\.numbered) + self.fragments.key.map(\.numbered)
      + self.fragments.orderBy.map(\.expression)
    {
      guard let found = try SQLFragment(rewritten(fragment), place: fragment.place).windows() else { return nil }
      windows += found
    }
    return windows
  }

  private func isSame(_ left: SQLFragment, _ right: SQLFragment) -> Bool {
    AggregateRewriter.words(left) == AggregateRewriter.words(right)
      || reference(left).map { $0 == reference(right) } == true
  }
}

extension SQLFragment {
  private static let partitionEnds = ["ORDER", "ROWS", "RANGE", "GROUPS"]

  /// The terms that each window of the fragment partitions by; nil if one of them refers to another window, or is in a
  /// subquery.
  fileprivate func windows() throws(FreshetError) -> [[SQLFragment]]? {
    var windows: [[SQLFragment]] = []
    for index in tokens.indices.dropFirst() where isWindow(at: index) {
      guard !hasSubquery, let end = endOfParenthesis(openedAt: index + 1) else { return nil }
      let inside = index + 2..<end - 1
      let words = words(in: inside)
      guard let first = inside.first, keyword(at: first) == "PARTITION", keyword(at: first + 1) == "BY" else {
        // `OVER (w ORDER BY …)` extends a named window.
        if let first = inside.first, !(keyword(at: first).map(Self.partitionEnds.contains) ?? false) { return nil }
        windows.append([])
        continue
      }
      let list = first + 2..<(Self.partitionEnds.compactMap { words[$0] }.min() ?? inside.upperBound)
      var terms: [SQLFragment] = []
      var start = list.lowerBound
      for comma in commas(in: list) + [list.upperBound] {
        terms.append(try SQLFragment(text(of: start..<comma), place: place))
        start = comma + 1
      }
      windows.append(terms)
    }
    return windows
  }

  /// Whether there is OVER after a call at an index.
  func isWindow(at index: Int) -> Bool {
    index > 0 && keyword(at: index) == "OVER" && text(of: tokens[index - 1]) == ")"
  }
}

extension String {
  /// Whether the fragment calls a window function, as far as its words show.
  var hasWindow: Bool {
    (try? SQLFragment(self, place: "")).map { fragment in
      fragment.tokens.indices.contains { fragment.isWindow(at: $0) }
    } ?? true
  }
}
