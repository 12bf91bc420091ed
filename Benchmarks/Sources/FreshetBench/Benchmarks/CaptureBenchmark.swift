import Foundation

/// Guards: to be followed costs a writer nothing, whether it waits for the disk at every commit (SQLite's default) or
/// not. A server follows the file with one list, whose subscriber holds all rows; the writer is this process, and gives
/// the server the time to follow before it commits again. Baseline: the same commits to the same table in an unwatched
/// file, in turns.
enum CaptureBenchmark: Benchmark {
  static let name = "capture"

  static func run(_ settings: Settings, _ report: Report) throws {
    let followed = try Wells(rows: 10_000)
    let plain = try Wells(rows: 10_000)
    defer {
      followed.remove()
      plain.remove()
    }
    let server = try Server(followed.path)
    defer { server.stop() }
    let socket = try LiveSocket(port: server.port)
    try socket.subscribe("a", Wells.query, window: nil)
    try socket.drain(milliseconds: 500)
    try server.waitUntilTablesAreRead()
    for (name, durability, rows, commits) in [
      ("one-row commits", .full, 1, settings.choose(full: 500, quick: 150)),
      ("one-row commits", .normal, 1, settings.choose(full: 2_000, quick: 500)),
      ("1,000-row commits", .full, 1_000, settings.choose(full: 40, quick: 15)),
      ("1,000-row commits", RawDatabase.Durability.normal, 1_000, settings.choose(full: 40, quick: 15)),
    ] {
      let sides = [followed, plain].map { RawDatabase($0.path, durability) }
      let updates = sides.map { $0.prepare("UPDATE well SET depth = depth + 1 WHERE id = ?1") }
      var samples = [Samples(), Samples()]
      for _ in 0..<settings.rounds {
        var latencies = [Latencies(), Latencies()]
        for commit in 0..<commits {
          for side in 0..<2 {
            latencies[side].record(nanoseconds { change(sides[side], updates[side], rows, commit) })
            if side == 0 { try socket.receive() }
            // Waits until the server has finished, so that both sides find the processors equally idle.
            try socket.drain(milliseconds: 2)
          }
        }
        for side in 0..<2 { samples[side].add(latencies[side].percentile(50)) }
      }
      report.compare(
        "\(name), synchronous=\(durability.rawValue), p50", samples[0], against: samples[1], "µs", .atMost(1.05))
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
