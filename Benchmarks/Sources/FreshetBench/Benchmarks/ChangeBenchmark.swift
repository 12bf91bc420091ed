import Foundation

/// Guards: what a one-row change costs, from the end of its commit to the encoded patch, is microseconds, and all but
/// independent of how long the list is. The file is as its writer made it. The list is held whole by one subscription,
/// and followed without threads or sockets (`freshet-turns`). Baseline: what an app does without Freshet, GRDB's
/// `ValueObservation` fetching the same SELECT of the same file again, and `CollectionDifference`.
enum ChangeBenchmark: Benchmark {
  static let name = "change"
  private static let kinds = ["content", "sort", "section", "insert", "delete"]

  static func run(_ settings: Settings, _ report: Report) throws {
    var byKind: [String: [Int: Samples]] = [:]
    for rows in settings.sizes {
      let wells = try Wells(rows: rows)
      defer { wells.remove() }
      let turns = try Turns(wells.path)
      let observed = try ObservedList(wells.path)
      for kind in kinds { _ = try turns.change(kind, 50) }
      var samples: [String: Samples] = [:]
      for _ in 0..<settings.rounds {
        for kind in kinds {
          samples[kind, default: Samples()].add(try turns.change(kind, settings.choose(full: 400, quick: 100)))
        }
        samples["baseline", default: Samples()].add(
          try observed.change(seconds: settings.choose(full: 1.5, quick: 0.7)))
        try turns.follow()
      }
      guard let baseline = samples["baseline"] else { continue }
      for kind in kinds {
        guard let subject = samples[kind] else { continue }
        byKind[kind, default: [:]][rows] = subject
        report.add("\(kind), p50", rows: rows, subject, "µs", .atMost(20))
      }
      report.add("fetching again and differing, p50", rows: rows, baseline, "µs")
      let slowest = kinds.compactMap { samples[$0] }.max { $0.median < $1.median } ?? Samples()
      report.compare(
        "fetching again against the slowest kind", rows: rows, baseline, against: slowest, "µs",
        rows == settings.usualSize ? .atLeast(10_000) : nil)
    }
    for kind in kinds {
      guard let small = byKind[kind]?[settings.sizes[0]], let large = byKind[kind]?[settings.sizes.last ?? 0] else {
        continue
      }
      report.compare(
        "growth of \(kind) from \(settings.sizes[0].grouped) rows", rows: settings.sizes.last, large, against: small,
        "µs",
        .atMost(5))
    }
  }
}
