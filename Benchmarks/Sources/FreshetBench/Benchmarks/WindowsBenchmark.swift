import Foundation

/// Guards: windows in different places of one list are arithmetic, not walks: 1,000 clients, each with a window of its
/// own, under 100 changes a second that shift all that comes behind. Baseline: one window.
enum WindowsBenchmark: Benchmark {
  static let name = "windows"

  static func run(_ settings: Settings, _ report: Report) throws {
    let rows = settings.usualSize
    let wells = try Wells(rows: rows)
    defer { wells.remove() }
    let seconds = settings.choose(full: 3, quick: 2)
    var perClient = Samples()
    let samples = try settings.inTurns([
      {
        let cpu = try cpu(wells, clients: 1_000, seconds)
        perClient.add(cpu / 1_000)
        $0.add(cpu)
      },
      { $0.add(try cpu(wells, clients: 1, seconds)) },
    ])
    report.add("CPU per client and change, 1,000 windows", rows: rows, perClient, "µs", .atMost(10))
    report.compare("CPU per change, 1,000 windows against one", rows: rows, samples[0], against: samples[1], "µs")
  }

  /// Server CPU for one change, in microseconds.
  private static func cpu(_ wells: Wells, clients: Int, _ seconds: Int) throws -> Double {
    let server = try Server(wells.path)
    defer { server.stop() }
    let crowd = try Crowd(clients, port: server.port)
    for client in 0..<clients {
      let offset = client * (wells.rows / clients)
      try crowd.send(client, LiveSocket.subscription("a", Wells.query, window: offset..<offset + 50))
      if client % 100 == 99 { try crowd.receive(upTo: clients + client + 1) }
    }
    try crowd.receive(upTo: 2 * clients)
    let database = RawDatabase(wells.path)
    let update = database.prepare("UPDATE well SET name = ?2 WHERE id = ?1")
    let before = crowd.messages
    let start = server.cpu
    let changes = seconds * 100
    let began = now()
    for change in 0..<changes {
      update.bind(1, change * 7_919 % wells.rows + 1)
      update.bind(2, "\(change % 2 == 0 ? "Aab" : "Zyx") renamed \(now())")
      update.run()
      let due = began + (change + 1) * 10_000_000
      while now() < due { try crowd.read(milliseconds: Int32(max(1, (due - now()) / 1_000_000))) }
    }
    try crowd.settle()
    // A move is sent to all clients, because sections and positions are.
    if crowd.messages - before < clients { throw Failure("\(clients) windows got \(crowd.messages - before) messages") }
    return Double(server.cpu - start) / Double(changes) / 1e3
  }
}
