import Foundation

/// Guards: what a back office shows costs what changed, whatever the size: aggregates, joins, subqueries, values
/// alongside and totals, after commits of another process. Baseline: SQLite running the statement once.
enum AggregatesBenchmark: Benchmark {
  static let name = "aggregates"

  static func run(_ settings: Settings, _ report: Report) throws {
    var growth: [String: [Samples]] = [:]
    for rows in [settings.sizes[0], settings.sizes.last ?? 0] {
      let shop = try Shop(rows: rows)
      defer { shop.remove() }
      for query in Shop.queries {
        let side = try Side(shop, query)
        defer { side.stop() }
        var samples = [Samples(), Samples(), Samples(), Samples()]
        for _ in 0..<settings.rounds {
          let (latency, processor) = try side.change(settings.choose(full: 200, quick: 60))
          samples[0].add(latency)
          samples[1].add(processor)
          samples[2].add(try side.changeThousand(settings.choose(full: 5, quick: 2)))
          samples[3].add(side.runStatements())
        }
        let isLarge = rows == settings.sizes.last
        report.add("\(query.name), p50", rows: rows, samples[0], "ms", .atMost(query.goals.latency))
        report.add("  processor time", rows: rows, samples[1], "ms", .atMost(query.goals.processor))
        report.add("  1,000 random changes in one commit, p50", rows: rows, samples[2], "ms", .atMost(10))
        report.compare(
          "  SQLite running it against p50", rows: rows, samples[3], against: samples[0], "ms",
          isLarge ? .atLeast(1) : nil)
        growth[query.name, default: []].append(samples[1])
      }
    }
    for query in Shop.queries {
      guard let samples = growth[query.name], samples.count == 2 else { continue }
      report.compare(
        "growth of \(query.name), processor time, from \(settings.sizes[0].grouped) rows", rows: settings.sizes.last,
        samples[1], against: samples[0], "ms", .atMost(2))
    }
  }

  /// A list of one query, and the program that writes.
  private final class Side {
    private let server: Server
    private let socket: LiveSocket
    private let database: RawDatabase
    private let update: RawDatabase.Statement
    private let query: Shop.Query
    private let rows: Int
    private var next = 0

    init(_ shop: Shop, _ query: Shop.Query) throws {
      self.query = query
      rows = shop.rows
      server = try Server(shop.path)
      socket = try LiveSocket(port: server.port)
      // A change outside of a window is no patch; the list of customers is short.
      try socket.subscribe("a", query.json, window: query.isShort ? nil : 0..<50)
      database = RawDatabase(shop.path)
      update = database.prepare(
        "UPDATE orders SET total = total + 0.25, status = 'state ' || (id + ?2) % 5, customer = (customer + ?2) % 1000 WHERE id = ?1"
      )
      // The table is read after the list was sent.
      usleep(300_000)
      _ = try change(20)
    }

    func stop() { server.stop() }

    private func changeOne() {
      next += 1
      update.bind(1, 1 + next * 7_919 % rows)
      update.bind(2, 1 + next % 998)
      update.run()
    }

    /// - Returns: milliseconds from COMMIT to the patch, the median, and of processor time for each.
    func change(_ count: Int) throws -> (latency: Double, processor: Double) {
      var latencies = Latencies()
      usleep(200_000)
      let before = server.cpu
      for _ in 0..<count {
        let start = now()
        changeOne()
        try socket.receive("patch", seconds: 30)
        latencies.record(now() - start)
        usleep(2_000)
      }
      usleep(100_000)
      return (latencies.percentile(50) / 1e3, Double(server.cpu - before) / Double(count) / 1e6)
    }

    func changeThousand(_ count: Int) throws -> Double {
      var latencies = Latencies()
      for _ in 0..<count {
        database.execute("BEGIN")
        for _ in 0..<1_000 { changeOne() }
        let start = now()
        database.execute("COMMIT")
        // A patch, or a snapshot where that is shorter.
        try socket.receive(seconds: 30)
        latencies.record(now() - start)
        try socket.drain(milliseconds: 50)
      }
      return latencies.percentile(50) / 1e3
    }

    /// - Returns: milliseconds.
    func runStatements() -> Double {
      let start = now()
      for statement in query.statements { _ = database.prepare(statement).texts }
      return Double(now() - start) / 1e6
    }
  }
}
