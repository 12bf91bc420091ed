import Foundation

/// Guards: opening a list the first time, all of its positions known, costs what SQLite takes to step through the rows
/// in that order; once it is open, a window is there at once, whatever the size, whether or not others were sent the
/// same, and the whole result costs little more than reading it. Baselines: raw SQLite in this process, stepping key
/// and sort columns; `LIMIT 50` along an index; all columns.
enum OpenBenchmark: Benchmark {
  static let name = "open"

  static func run(_ settings: Settings, _ report: Report) throws {
    for rows in settings.sizes {
      let wells = try Wells(rows: rows)
      let indexed = try Wells(rows: rows, isIndexed: true)
      defer {
        wells.remove()
        indexed.remove()
      }
      let raw = RawDatabase(wells.path)
      let cold = try settings.inTurns([
        { $0.add(try first(wells)) },
        { $0.add(step(raw, "county, name, id", Wells.order)) },
      ])
      report.compare("cold", rows: rows, cold[0], against: cold[1], "ms", .atMost(1))

      let server = try Server(wells.path)
      defer { server.stop() }
      let socket = try LiveSocket(port: server.port)
      try socket.subscribe("a", Wells.query)
      let all = "id, name, operator, status, depth"
      let ordered = RawDatabase(indexed.path)
      var offset = 0
      let open = try settings.inTurns([
        { $0.add(try window(server) { 0..<50 }) },
        { $0.add(Samples((0..<50).map { _ in step(ordered, all, "\(Wells.order) LIMIT 50") }).median) },
        { $0.add(try whole(server)) },
        { $0.add(step(raw, all, Wells.order)) },
        {
          $0.add(
            try window(server) {
              offset += 1
              return offset..<offset + 50
            })
        },
      ])
      report.compare("window of 50 of an open list", rows: rows, open[0], against: open[1], "ms")
      report.compare("a window that no client was sent before", rows: rows, open[4], against: open[1], "ms")
      report.compare("whole result of an open list", rows: rows, open[2], against: open[3], "ms", .atMost(2))
    }
  }

  private static func step(_ database: RawDatabase, _ columns: String, _ rest: String) -> Double {
    let statement = database.prepare("SELECT \(columns) FROM well \(rest)")
    return Double(nanoseconds { statement.run() }) / 1e6
  }

  /// A server of its own each time: a query that was asked before is open already.
  private static func first(_ wells: Wells) throws -> Double {
    let server = try Server(wells.path)
    defer { server.stop() }
    let socket = try LiveSocket(port: server.port)
    return Double(try nanoseconds { try socket.subscribe("a", Wells.query) }) / 1e6
  }

  private static func window(_ server: Server, _ next: () -> Range<Int>) throws -> Double {
    let socket = try LiveSocket(port: server.port)
    let times = try (0..<50).map { number in
      let window = next()
      return Double(try nanoseconds { try socket.subscribe("\(number)", Wells.query, window: window) }) / 1e6
    }
    return Samples(times).median
  }

  private static func whole(_ server: Server) throws -> Double {
    let socket = try LiveSocket(port: server.port)
    return Double(
      try nanoseconds {
        try socket.send(LiveSocket.subscription("a", Wells.query, window: nil))
        var isComplete = false
        while !isComplete {
          let message = try socket.receive(seconds: 30)
          isComplete = message.suffix(40).contains(subsequence: Array("\"complete\":true".utf8))
        }
      }) / 1e6
  }
}

extension Collection where Element: Equatable {
  fileprivate func contains(subsequence other: [Element]) -> Bool {
    indices.contains { self[$0...].starts(with: other) }
  }
}
