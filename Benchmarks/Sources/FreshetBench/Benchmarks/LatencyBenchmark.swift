import Foundation

/// Guards: from the COMMIT of another process to the patch in a client's hands passes little more time than the machine
/// needs for waking three threads of two processes. Baseline: a bare libwebsockets server in C that sends 200 bytes
/// when inotify fires. The writer and the client are this process; the clock starts when it calls COMMIT, since inotify
/// reports the WAL before COMMIT returns.
enum LatencyBenchmark: Benchmark {
  static let name = "latency"

  static func run(_ settings: Settings, _ report: Report) throws {
    let commits = settings.choose(full: 1_000, quick: 300)
    let wells = try Wells(rows: settings.usualSize)
    let plain = try Wells(rows: 1_000)
    defer {
      wells.remove()
      plain.remove()
    }
    let server = try Server(wells.path)
    defer { server.stop() }
    let database = RawDatabase(wells.path)
    let socket = try LiveSocket(port: server.port)
    try socket.subscribe("a", Wells.query)
    let bareDatabase = RawDatabase(plain.path)
    bareDatabase.execute("UPDATE well SET depth = depth + 1 WHERE id = 1")
    let bare = try Child(Programs.own("bare-server"), [plain.path])
    let bareSocket = try LiveSocket(port: Int(try bare.hear()) ?? 0, greeting: false)

    var samples = [Samples(), Samples(), Samples(), Samples()]
    for _ in 0..<settings.rounds {
      for (side, (database, socket)) in [(database, socket), (bareDatabase, bareSocket)].enumerated() {
        let latencies = try measure(commits, database, socket)
        samples[side].add(latencies.percentile(50))
        samples[side + 2].add(latencies.percentile(99))
      }
    }
    report.compare("p50", rows: settings.usualSize, samples[0], against: samples[1], "µs")
    report.compare("p99", rows: settings.usualSize, samples[2], against: samples[3], "µs")
  }

  private static func measure(_ commits: Int, _ database: RawDatabase, _ socket: LiveSocket) throws -> Latencies {
    let first = database.prepare("SELECT id FROM well \(Wells.order) LIMIT 1").texts[0]
    let update = database.prepare("UPDATE well SET depth = depth + 1 WHERE id = \(first)")
    let begin = database.prepare("BEGIN IMMEDIATE")
    let commit = database.prepare("COMMIT")
    var latencies = Latencies()
    for _ in 0..<commits {
      begin.run()
      update.run()
      let start = now()
      commit.run()
      try socket.receive(seconds: 5)
      latencies.record(now() - start)
      // The bare server is woken for every page.
      try socket.drain(milliseconds: 2)
    }
    return latencies
  }
}
