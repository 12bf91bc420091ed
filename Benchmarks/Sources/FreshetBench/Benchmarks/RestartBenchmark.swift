import Foundation

/// Guards: a restart is as fast as reading the tables once, and keeping the state for it costs ticks nothing. Baseline:
/// SQLite stepping through the table, in the same process.
enum RestartBenchmark: Benchmark {
  static let name = "restart"

  static func run(_ settings: Settings, _ report: Report) throws {
    let rows = settings.choose(full: 1_000_000, quick: 100_000)
    let wells = try Wells(rows: rows)
    defer { wells.remove() }
    var samples: [String: Samples] = [:]
    for _ in 0..<settings.rounds {
      let child = try Child(Programs.built("freshet-turns"), ["restart", wells.path])
      while case let line = try child.hear(), line != "done" {
        let parts = line.split(separator: "\t")
        guard parts.count == 2, let value = Double(parts[1]) else { throw child.failure("says \(line)") }
        samples[String(parts[0]), default: Samples()].add(parts[0] == "bytes" ? value / Double(rows) : value / 1e6)
      }
      child.stop()
    }
    func times(_ name: String) throws -> Samples {
      guard let times = samples[name] else { throw Failure("freshet-turns does not say \(name)") }
      return times
    }
    report.add("state on the disk", rows: rows, try times("bytes"), "bytes a row", .atMost(12))
    report.add("a tick of one row", rows: rows, try times("tick"), "ms")
    report.add("what a tick has to do for a state", rows: rows, try times("give"), "ms", .atMost(0.1))
    report.add(
      "a tick that changes a table whose state is being encoded", rows: rows,
      try times("tick that changes what is held"), "ms")
    report.add(
      "encoding and writing a state, on another thread", rows: rows, try times("encode and write"), "ms", .atMost(50))
    report.add("reading and checking a state", rows: rows, try times("read, frames"), "ms")
    report.add("first tick where the WAL continues", rows: rows, try times("first tick, frames"), "ms")
    report.add("first tick where tables are compared", rows: rows, try times("first tick, comparison"), "ms")
    var beyond = Samples()
    for ((read, compared), scan) in zip(
      zip(try times("read, comparison").values, try times("first tick, comparison").values), try times("scan").values)
    {
      beyond.add(read + compared - scan)
    }
    report.add("SQLite stepping through the table", rows: rows, try times("scan"), "ms")
    report.add(
      "restart: state read and first tick exact, beyond SQLite stepping", rows: rows, beyond, "ms", .atMost(100))
    try server(wells, report, settings)
  }

  /// The whole server: from its start to its first tick.
  private static func server(_ wells: Wells, _ report: Report, _ settings: Settings) throws {
    let folder = try Folder()
    defer { folder.remove() }
    let states = folder.path("states")
    var server = try Server(wells.path, states: states)
    defer { server.stop() }
    var ready = Samples()
    for _ in 0..<settings.rounds {
      let socket = try LiveSocket(port: server.port)
      try socket.subscribe("a", Wells.query, window: 0..<50)
      try socket.drain(milliseconds: 200)
      try server.waitUntilTablesAreRead()
      server.stop()
      RawDatabase(wells.path).execute("UPDATE well SET depth = depth + 1 WHERE id = 77")
      let start = now()
      server = try Server(wells.path, states: states)
      while try server.metrics()["freshet_changes_total"] < 1 { usleep(1_000) }
      ready.add(Double(now() - start) / 1e6)
    }
    report.add("server: from its start to its first tick", rows: wells.rows, ready, "ms")
  }
}
