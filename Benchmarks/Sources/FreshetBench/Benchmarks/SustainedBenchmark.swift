import Foundation

/// Guards: a writer commits about as fast next to a server with one list and one subscriber as without. The writer is a
/// process of its own and goes as fast as it can, waiting for its disk at every commit (SQLite's default) or not.
/// Baseline: the same on an unwatched file.
enum SustainedBenchmark: Benchmark {
  static let name = "sustained"

  static func run(_ settings: Settings, _ report: Report) throws {
    for durability in RawDatabase.Durability.allCases { try run(settings, report, durability) }
  }

  private static func run(_ settings: Settings, _ report: Report, _ durability: RawDatabase.Durability) throws {
    let served = try Wells(rows: 10_000)
    let plain = try Wells(rows: 10_000)
    defer {
      served.remove()
      plain.remove()
    }
    let server = try Server(served.path)
    defer { server.stop() }
    let crowd = try Crowd(1, port: server.port)
    try crowd.send(0, LiveSocket.subscription("a", Wells.query, window: nil))
    try crowd.settle()
    let writers = try [served, plain].map { wells in
      let child = try Child(Programs.own("FreshetBench"), ["write", wells.path, durability.rawValue])
      _ = try child.hear()
      return child
    }
    let seconds = settings.choose(full: 3, quick: 1)
    let samples = try settings.inTurns(
      writers.map { writer in
        { samples in
          let before = crowd.messages
          try writer.tell("\(seconds * 1_000)")
          let end = now() + seconds * 1_000_000_000
          while now() < end { try crowd.read(milliseconds: 20) }
          samples.add(Double(try writer.hear()) ?? .nan)
          try crowd.settle()
          if writer === writers[0], crowd.messages == before { throw Failure("the subscriber got no patch") }
        }
      })
    report.compare(
      "one-row commits, synchronous=\(durability.rawValue)", samples[0], against: samples[1], "a second", .atLeast(0.85)
    )
  }
}
