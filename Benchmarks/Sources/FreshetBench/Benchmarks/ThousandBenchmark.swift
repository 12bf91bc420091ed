import Foundation

/// Guards: 1,000 changes of all kinds in one commit become one patch within milliseconds, with exactly the operations
/// that protocol 3.3 needs at the least (an oracle of its own counts them from two SELECTs). A list of 1,000 rows is
/// left out: when all of it changes, a snapshot is sent. Baseline: as that of `change`.
enum ThousandBenchmark: Benchmark {
  static let name = "thousand"

  static func run(_ settings: Settings, _ report: Report) throws {
    for rows in settings.sizes where rows > 1_000 {
      let wells = try Wells(rows: rows)
      defer { wells.remove() }
      let turns = try Turns(wells.path)
      let observed = try ObservedList(wells.path)
      _ = try turns.thousand(1)
      var times = Samples()
      var surplus = Samples()
      var baseline = Samples()
      for _ in 0..<settings.rounds {
        let outcomes = try turns.thousand(rows > 100_000 ? 1 : 3)
        times.add(Samples(outcomes.map { $0.nanoseconds / 1e6 }).median)
        surplus.add(outcomes.map { $0.sent - $0.fewest }.max { abs($0) < abs($1) } ?? .nan)
        baseline.add(try observed.thousand() / 1e6)
        try turns.follow()
      }
      report.add("commit to patch", rows: rows, times, "ms", .atMost(7))
      report.add("operations beyond the fewest", rows: rows, surplus, "operations", .exactly(0))
      report.compare("fetching again and differing", rows: rows, baseline, against: times, "ms")
    }
  }
}
