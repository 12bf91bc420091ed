import Foundation

/// Guards: a list that has to be run again after every change, because a subquery reads its own table, costs little
/// more than SQLite stepping its SELECT. Baseline: that, in this process.
enum RefetchBenchmark: Benchmark {
  static let name = "refetch"
  private static let condition = "depth <= (SELECT max(depth) FROM well)"

  static func run(_ settings: Settings, _ report: Report) throws {
    let wells = try Wells(rows: settings.usualSize)
    defer { wells.remove() }
    let database = RawDatabase(wells.path)
    let server = try Server(wells.path)
    defer { server.stop() }
    let socket = try LiveSocket(port: server.port)
    try socket.subscribe(
      "a",
      """
      {"from":"well","select":["name","operator","status","depth"],"where":"\(condition)","sectionBy":"county",
       "orderBy":["name"]}
      """)
    let raw = database.prepare(
      "SELECT county, name, id, operator, status, depth FROM well WHERE \(condition) \(Wells.order)")
    // Changes the first row: a change outside the window that moves nothing is rightly not sent.
    let update = database.prepare(
      "UPDATE well SET depth = depth + 1 WHERE id = (SELECT id FROM well \(Wells.order) LIMIT 1)")
    let samples = try settings.inTurns([
      {
        // Longer than the pause after which a query may be run again.
        usleep(1_200_000)
        update.run()
        $0.add(Double(try nanoseconds { try socket.receive("patch", seconds: 20) }) / 1e6)
      },
      { $0.add(Double(nanoseconds { raw.run() }) / 1e6) },
    ])
    report.compare(
      "a list with a subquery on its table, commit to patch", rows: settings.usualSize, samples[0], against: samples[1],
      "ms", .atMost(1.5))
  }
}
