import TestSupport

/// Composes totals of queries. It has a random generator of its own, so that kept seeds still lead to the same queries.
///
/// Numbers are integers, because sums of reals depend on the order in which SQLite reads the rows.
struct RandomTotals {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed ^ 0x746F_7461_6C73) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }

  /// - Parameter columns: the columns of the query's tables.
  mutating func next(_ columns: [String]) -> [String: String] {
    var totals: [String: String] = [:]
    for index in 0..<pick([0, 0, 1, 2, 4]) {
      let column = pick(columns)
      let other = pick(columns)
      let number = "CAST(\(column) AS INTEGER)"
      totals["t\(index)"] = pick([
        "count(*)", "count(\(column))", "sum(\(number))", "total(\(number))", "avg(\(number))", "min(\(number))",
        "max(\(number))", "count(DISTINCT \(column))", "count(*) FILTER (WHERE \(column) > 1)",
        "max(\(number)) FILTER (WHERE \(other) IS NOT NULL)", "round(100.0 * count(\(column)) / count(*), 1)",
        "sum(\(number)) - 2 * count(\(other))", "coalesce(sum(\(column) = \(other)), -1)",
        "sum(\(number) > (SELECT count(*) FROM sale))",
      ])
    }
    return totals
  }
}
