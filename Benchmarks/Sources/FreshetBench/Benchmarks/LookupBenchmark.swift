import Foundation

/// Guards: a one-row commit becomes an encoded patch in little more time than a program in C needs for beginning a read
/// transaction, looking the row up by its key and ending it (`bare-lookup`). Both change rows of one file in turns,
/// each through a second connection in its own process, and time what they do right after the commit, which has emptied
/// the reader's page cache.
enum LookupBenchmark: Benchmark {
  static let name = "lookup"

  static func run(_ settings: Settings, _ report: Report) throws {
    let wells = try Wells(rows: settings.usualSize)
    defer { wells.remove() }
    let turns = try Turns(wells.path)
    let bare = try Turns(wells.path, program: Programs.own("bare-lookup"))
    let count = settings.choose(full: 400, quick: 100)
    for kind in ["content", "sort", "section", "insert", "delete"] {
      let samples = try settings.inTurns([
        {
          // The commits of the other side do not belong to the next change.
          try turns.follow()
          $0.add(try turns.change(kind, count))
        },
        { $0.add(try bare.change(kind, count)) },
      ])
      report.compare(
        "\(kind), commit to patch, p50", rows: settings.usualSize, samples[0], against: samples[1], "µs", .atMost(2.5))
    }
  }
}
