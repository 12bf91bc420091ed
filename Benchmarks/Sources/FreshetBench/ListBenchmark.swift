import Foundation

/// Guards: what a list of any size costs to open, to hold, and to keep up to date, while another process writes.
struct ListBenchmark {
  let rows: Int
  let changes: Int

  struct Outcome {
    /// Server CPU for one change, in microseconds, everything included.
    var cpuPerChange = 0.0
    var latencies = Latencies()
    /// Bytes per row above the idle server.
    var bytesPerRow = 0.0
    /// Until the client has the first window, and until raw SQLite has stepped the key and sort columns in that order;
    /// medians of pairs, in milliseconds.
    var firstWindow = 0.0
    var rawSteps = 0.0
  }

  func run() throws -> Outcome {
    let wells = Wells(rows: rows)
    defer { wells.remove() }
    var outcome = Outcome()
    let database = Database(wells.path)
    var windows: [Double] = []
    var steps: [Double] = []
    // A server of its own each time: a query that was asked before is open already.
    for round in 0..<3 {
      let server = try Server(wells.path)
      defer { server.stop() }
      let socket = LiveSocket(port: server.port)
      let idle = server.memory
      let raw = database.prepare("SELECT county, name, id FROM well ORDER BY county, name, id")
      steps.append(Double(nanoseconds { raw.run() }) / 1e6)
      windows.append(Double(nanoseconds { subscribe(socket) }) / 1e6)
      outcome.bytesPerRow = max(outcome.bytesPerRow, Double(server.memory - idle) / Double(rows))
      if round == 2 { follow(server, socket, database, &outcome) }
    }
    outcome.firstWindow = median(windows)
    outcome.rawSteps = median(steps)
    return outcome
  }

  private func subscribe(_ socket: LiveSocket) {
    socket.send(
      "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":\(Wells.query),\"window\":{\"offset\":0,\"limit\":50}}")
    let message = String(decoding: socket.receive().prefix(40), as: UTF8.self)
    precondition(message.contains("snapshot"), "no snapshot: \(message)")
  }

  /// One-row commits, each a rename that moves the row within its section.
  private func follow(_ server: Server, _ socket: LiveSocket, _ database: Database, _ outcome: inout Outcome) {
    let update = database.prepare("UPDATE well SET name = ?1 WHERE id = ?2")
    let name = database.prepare("SELECT name FROM well WHERE id = ?1")
    var generator = SystemRandomNumberGenerator()
    var sent = 0
    let start = server.cpu
    for change in 0..<changes {
      let id = Int.random(in: 1...rows, using: &generator)
      name.bind(1, id)
      // To the other end of the alphabet, past its neighbours.
      let letter = name.text < "M" ? "Z" : "A"
      update.bind(1, "\(letter)\(change % 7) renamed \(change)")
      update.bind(2, id)
      update.run()
      let committed = now()
      // A row alone in its half of the section does not move, and outside of the window nothing is sent for it.
      if socket.isReadable(milliseconds: 200) {
        outcome.latencies.record(now() - committed)
        _ = socket.receive()
        sent += 1
      }
      usleep(2_000)
    }
    // What follows the last patch belongs to it as well: the worker looks again for a while.
    usleep(100_000)
    precondition(sent > changes / 2, "most renames moved nothing")
    outcome.cpuPerChange = Double(server.cpu - start) / Double(changes) / 1e3
  }
}
