import Foundation

/// Guards: next to a writer that pauses between its commits and leaves checkpoints to SQLite, every commit is read from
/// the pages that it wrote: no table is compared as a whole, however often the WAL starts over.
enum ComparisonsBenchmark: Benchmark {
  static let name = "comparisons"
  private static let rows = 10_000

  static func run(_ settings: Settings, _ report: Report) throws {
    let wells = try Wells(rows: rows)
    defer { wells.remove() }
    let server = try Server(wells.path)
    defer { server.stop() }
    let crowd = try Crowd(1, port: server.port)
    try crowd.send(0, LiveSocket.subscription("a", Wells.query))
    try crowd.settle()
    try server.waitUntilTablesAreRead()
    let database = RawDatabase(wells.path)
    let update = database.prepare("UPDATE well SET depth = depth + 1 WHERE id = ?1")
    let commits = settings.choose(full: 10_000, quick: 2_500)
    // The first commit to an empty WAL has everything compared once: before it there was no generation to go on from.
    update.bind(1, 1)
    update.run()
    try crowd.settle()
    let before = try server.metrics()
    for commit in 0..<commits {
      update.bind(1, commit * 7_919 % rows + 1)
      update.run()
      try crowd.read(milliseconds: 1)
      usleep(500)
    }
    try crowd.settle()
    let after = try server.metrics()
    let changes = after["freshet_changes_total"] - before["freshet_changes_total"]
    if changes != Double(commits) { throw Failure("\(commits) rows changed, and \(changes.short) were found") }
    let name = "freshet_capture_comparisons_total"
    report.add(
      "comparisons of whole tables, \(commits.grouped) commits", Samples([after[name] - before[name]]), "comparisons",
      .exactly(0))
  }
}
