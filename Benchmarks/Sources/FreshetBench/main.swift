import Foundation

let isQuick = ProcessInfo.processInfo.environment["QUICK"] == "1"
let changes = isQuick ? 300 : 2_000

print("one list sectioned and sorted, one window of 50, a writer in another process; \(changes) one-row changes")
let small = try ListBenchmark(rows: 1_000, changes: changes).run()
let large = try ListBenchmark(rows: 244_292, changes: changes).run()
let queries = try QueriesBenchmark(changes: isQuick ? 100 : 500, rows: 244_292).run()
let refetch = try RefetchBenchmark(rows: 244_292, rounds: isQuick ? 5 : 15).run()
let untracked = try RefetchBenchmark(rows: 1_000, rounds: isQuick ? 30 : 200, pause: 130_000).run()
let capture = try CaptureBenchmark(commits: isQuick ? 2_000 : 10_000).run()

let results = [
  Result("server CPU per change, 244,292 rows", large.cpuPerChange, "µs", atMost: 300),
  Result("  the same at 1,000 rows", small.cpuPerChange, "µs", atMost: 300),
  Result("  growth from 1,000 to 244,292 rows", large.cpuPerChange / small.cpuPerChange, "times", atMost: 3),
  Result("commit to patch received, p50", large.latencies.percentile(50), "ms", atMost: 3),
  Result("  p99", large.latencies.percentile(99), "ms", atMost: .infinity),
  Result("memory per row above the idle server", large.bytesPerRow, "bytes", atMost: 120),
  Result("first window against raw SQLite in that order", large.firstWindow / large.rawSteps, "times", atMost: 2),
  Result("  first window", large.firstWindow, "ms", atMost: 2 * large.rawSteps),
  Result("  raw SQLite stepping key and sort columns", large.rawSteps, "ms", atMost: .infinity),
  Result(
    "10,000 queries, one concerned, against one query", queries.manyQueries / queries.oneQuery, "times", atMost: 3),
  Result("  server CPU per change with one query", queries.oneQuery, "µs", atMost: .infinity),
  Result("  with 10,000", queries.manyQueries, "µs", atMost: .infinity),
  Result("joined row that concerns 10 against one row", queries.joined / queries.oneRow, "times", atMost: 5),
  Result("refetch of 244,292 rows", refetch.refetch, "ms", atMost: 1.5 * refetch.rawSteps + 100),
  Result("  raw SQLite stepping the same SELECT", refetch.rawSteps, "ms", atMost: .infinity),
  Result("untracked, 1,000 rows: commit to patch received, p50", untracked.latencies.percentile(50), "ms", atMost: 50),
  Result("  p99", untracked.latencies.percentile(99), "ms", atMost: 50),
  Result("one-row commit with capture against without", capture, "times", atMost: 1.6),
]
let width = results.map(\.name.count).max() ?? 0
for result in results {
  let name = result.name.padding(toLength: width, withPad: " ", startingAt: 0)
  let goal = result.goal.contains("inf") ? "" : "goal \(result.goal)\(result.isMet ? "" : "  MISSED")"
  print("\(name)  \(result.value.formatted()) \(result.unit)  \(goal)")
}
let json = results.map { ["name": $0.name, "value": $0.value, "unit": $0.unit] as [String: Any] }
try JSONSerialization.data(withJSONObject: json, options: [.prettyPrinted, .sortedKeys])
  .write(to: URL(fileURLWithPath: "results.json"))
