import Foundation

// `hold PATH` and `write …` are this program as another process; without arguments it runs the benchmarks.
if let status = Helpers.run(Array(CommandLine.arguments.dropFirst())) { exit(status) }

let benchmarks: [any Benchmark.Type] = [
  ChangeBenchmark.self, LookupBenchmark.self, ThousandBenchmark.self, LatencyBenchmark.self, MemoryBenchmark.self,
  OpenBenchmark.self, FanOutBenchmark.self, CoalescingBenchmark.self, QueriesBenchmark.self, WindowsBenchmark.self,
  CaptureBenchmark.self, ComparisonsBenchmark.self, OverloadBenchmark.self, SustainedBenchmark.self,
  PacedBenchmark.self,
  IdleBenchmark.self, RefetchBenchmark.self, JoinBenchmark.self, AggregatesBenchmark.self, TPCHBenchmark.self,
  IsolationBenchmark.self,
  ThroughputBenchmark.self, RestartBenchmark.self, ChangesBenchmark.self,
]

let settings = Settings(environment: ProcessInfo.processInfo.environment)
let unknown = settings.only.subtracting(benchmarks.map { $0.name })
if !unknown.isEmpty {
  say(
    "There is no \(unknown.sorted().joined(separator: ", ")); there are \(benchmarks.map { $0.name }.joined(separator: ", "))."
  )
  exit(2)
}
Machine.allowDescriptors(20_000)
let signals = Watchdog.listen()
let report = Report()
say("\(Machine.description). Medians (quartiles) over rounds; subject and baseline in turns.")
for benchmark in benchmarks where settings.only.isEmpty || settings.only.contains(benchmark.name) {
  Watchdog.start(benchmark.name, seconds: benchmark.deadline)
  report.begin(benchmark.name)
  do { try benchmark.run(settings, report) } catch { report.fail(error) }
}
try report.finish("results.json", machine: Machine.description)
if settings.only.isEmpty, !settings.isQuick { try Charts.draw(report.findings, in: "../docs/benchmarks") }
Folder.removeAll()
exit(report.failures.isEmpty ? 0 : 1)
