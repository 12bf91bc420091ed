import Foundation

/// Guards: a list that has to be run again, because nobody logs the changes of its file, costs little more than SQLite
/// stepping its SELECT.
struct RefetchBenchmark {
  let rows: Int
  let rounds: Int
  /// Between two changes, beyond the time for which a query is not run again; in microseconds.
  var pause: UInt32 = 700_000

  struct Outcome {
    /// From the commit of one change until the patch is there; and raw SQLite stepping the same SELECT, in milliseconds.
    var refetch = 0.0
    var rawSteps = 0.0
    var latencies = Latencies()
  }

  func run() throws -> Outcome {
    let wells = Wells(rows: rows)
    defer { wells.remove() }
    let database = Database(wells.path)
    let server = try Server(wells.path, isTracked: false)
    defer { server.stop() }
    let socket = LiveSocket(port: server.port)
    socket.send("{\"type\":\"subscribe\",\"id\":\"a\",\"query\":\(Wells.query),\"window\":{\"offset\":0,\"limit\":50}}")
    _ = socket.receive()
    let raw = database.prepare("SELECT county, name, id, operator, status, depth FROM well ORDER BY county, name, id")
    // Of the first row: a change outside the window that moves nothing is rightly not told.
    let update = database.prepare(
      "UPDATE well SET name = ?1 WHERE id = (SELECT id FROM well ORDER BY county, name, id LIMIT 1)")
    var refetches: [Double] = []
    var steps: [Double] = []
    var latencies = Latencies()
    for round in 0..<rounds {
      usleep(pause)
      steps.append(Double(nanoseconds { raw.run() }) / 1e6)
      update.bind(1, "\(round % 2 == 0 ? "Z" : "A") renamed \(round)")
      let start = now()
      update.run()
      precondition(socket.isReadable(milliseconds: 10_000), "no patch came")
      latencies.record(now() - start)
      refetches.append(Double(now() - start) / 1e6)
      _ = socket.receive()
    }
    return Outcome(refetch: median(refetches), rawSteps: median(steps), latencies: latencies)
  }
}
