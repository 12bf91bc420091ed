import Foundation

/// Guards: what the change capture costs a writer, who waits for the disk at every commit (SQLite's default) or not. Baseline: the
/// same commits to the same table without it, in turns.
enum CaptureBenchmark: Benchmark {
  static let name = "capture"

  static func run(_ settings: Settings, _ report: Report) throws {
    let tracked = try Wells(rows: 10_000)
    let plain = try Wells(rows: 10_000)
    defer {
      tracked.remove()
      plain.remove()
    }
    // Tracks; nobody follows.
    try Server(tracked.path).stop()
    for (name, durability, rows, commits, goal) in [
      ("one-row commits", .full, 1, settings.choose(full: 1_000, quick: 300), 1.4),
      ("one-row commits", .normal, 1, settings.choose(full: 4_000, quick: 1_500), 1.4),
      ("1,000-row commits", .full, 1_000, settings.choose(full: 40, quick: 15), 1.3),
      ("1,000-row commits", RawDatabase.Durability.normal, 1_000, settings.choose(full: 40, quick: 15), 1.3),
    ] {
      let sides = [tracked, plain].map { RawDatabase($0.path, durability) }
      let updates = sides.map { $0.prepare("UPDATE well SET depth = depth + 1 WHERE id = ?1") }
      var samples = [Samples(), Samples()]
      for _ in 0..<settings.rounds {
        var latencies = [Latencies(), Latencies()]
        for commit in 0..<commits {
          for side in 0..<2 {
            latencies[side].record(nanoseconds { change(sides[side], updates[side], rows, commit) })
          }
        }
        for side in 0..<2 { samples[side].add(latencies[side].percentile(50)) }
      }
      report.compare(
        "\(name), synchronous=\(durability.rawValue), p50", samples[0], against: samples[1], "µs", .atMost(goal))
    }
  }

  private static func change(_ database: RawDatabase, _ update: RawDatabase.Statement, _ rows: Int, _ commit: Int) {
    if rows > 1 { database.execute("BEGIN IMMEDIATE") }
    for row in 0..<rows {
      update.bind(1, (commit * rows + row) * 7_919 % 10_000 + 1)
      update.run()
    }
    if rows > 1 { database.execute("COMMIT") }
  }
}
