import Foundation

/// Guards: connections that nothing happens to cost next to nothing: 10,000 of them, each with a query of its own, and
/// then one change that concerns one of them.
enum IdleBenchmark: Benchmark {
  static let name = "idle"

  static func run(_ settings: Settings, _ report: Report) throws {
    let connections = settings.choose(full: 10_000, quick: 2_000)
    let file = try Items(rows: connections * 10, owners: connections)
    defer { file.remove() }
    let server = try Server(file.path)
    defer { server.stop() }
    let before = server.memory
    let crowd = try Crowd(connections, port: server.port)
    for member in 0..<connections {
      try crowd.send(member, LiveSocket.subscription("a", Items.query(member), window: nil))
      if member % 100 == 99 { try crowd.receive(upTo: connections + member + 1) }
    }
    try crowd.receive(upTo: 2 * connections)
    usleep(500_000)
    report.add(
      "memory for each of \(connections.grouped)",
      Samples([Double(server.memory - before) / Double(connections) / 1e3]),
      "kB", .atMost(8))

    var busy = Samples()
    var latency = Samples()
    let seconds = settings.choose(full: 4.0, quick: 1.0)
    let update = RawDatabase(file.path).prepare("UPDATE item SET value = value + 1 WHERE id = ?1")
    for round in 0..<settings.rounds {
      let start = server.cpu
      usleep(UInt32(seconds * 1e6))
      busy.add(Double(server.cpu - start) / seconds / 1e7)
      for change in 0..<20 { latency.add(try reach(crowd, update, connections, round * 20 + change)) }
    }
    report.add("processor time while nothing happens", busy, "%", .atMost(1))
    report.add("a change that concerns one of them, until it is there", latency, "ms", .atMost(5))
  }

  /// - Returns: milliseconds.
  private static func reach(
    _ crowd: Crowd, _ update: RawDatabase.Statement, _ connections: Int, _ change: Int
  ) throws -> Double {
    let member = 100 + change * 7 % (connections - 100)
    let wanted = crowd.messages(of: member) + 1
    update.bind(1, connections + member)
    let start = now()
    update.run()
    while crowd.messages(of: member) < wanted {
      try crowd.read(milliseconds: 1_000)
      if now() - start > 5_000_000_000 { throw Failure("client \(member) of \(connections) got no patch in 5 s") }
    }
    let taken = now() - start
    usleep(20_000)
    return Double(taken) / 1e6
  }
}
