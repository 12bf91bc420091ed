import Foundation

/// Guards: what an open list takes above the idle server, by row, with what is remembered of its table to follow it;
/// and what one more subscriber of it takes besides its socket. Baseline: an array of the rows as Swift structs.
/// Resident memory of processes, so small lists are left out.
enum MemoryBenchmark: Benchmark {
  static let name = "memory"

  static func run(_ settings: Settings, _ report: Report) throws {
    for rows in settings.sizes where rows >= 100_000 {
      let wells = try Wells(rows: rows)
      defer { wells.remove() }
      let samples = try settings.inTurns([
        {
          let server = try Server(wells.path)
          defer { server.stop() }
          let socket = try LiveSocket(port: server.port)
          let idle = server.memory
          try socket.subscribe("a", Wells.query)
          // The memory in which the list was made is freed when its first window has been sent. Then its table is read.
          try server.waitUntilTablesAreRead()
          usleep(300_000)
          $0.add(Double(server.memory - idle) / Double(rows))
        },
        {
          $0.add((Double(try Child(Programs.own("FreshetBench"), ["hold", wells.path]).hear()) ?? .nan) / Double(rows))
        },
      ])
      report.add("an open list", rows: rows, samples[0], "bytes a row", .atMost(72))
      report.compare("against an array of structs", rows: rows, samples[0], against: samples[1], "bytes a row")
    }
    report.add(
      "one more subscriber, above its socket", Samples(try (0..<settings.rounds).map { _ in try subscriber() }),
      "bytes",
      .atMost(1_024))
  }

  private static func subscriber() throws -> Double {
    let count = 2_000
    let wells = try Wells(rows: 1_000)
    defer { wells.remove() }
    let server = try Server(wells.path)
    defer { server.stop() }
    let first = try LiveSocket(port: server.port)
    try first.subscribe("a", Wells.query)
    let crowd = try Crowd(count, port: server.port)
    // Each has asked for something once: buffers that a socket keeps are not the subscription's.
    for member in 0..<count { try crowd.send(member, #"{"type":"ping"}"#) }
    try crowd.receive(upTo: 2 * count)
    usleep(300_000)
    let before = server.memory
    for member in 0..<count {
      try crowd.send(member, LiveSocket.subscription("a", Wells.query))
      if member % 100 == 99 { try crowd.receive(upTo: 2 * count + member + 1) }
    }
    usleep(300_000)
    return Double(server.memory - before) / Double(count)
  }
}
