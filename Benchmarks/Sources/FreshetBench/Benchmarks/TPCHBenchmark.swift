import Foundation

/// Guards: TPC-H's 22 queries as lists, each alone, cost what changed: after changes of single rows by another process,
/// and after refreshes of ten orders with their line items. Baseline: SQLite running the query once.
enum TPCHBenchmark: Benchmark {
  static let name = "tpch"
  static let deadline = 3_600

  static func run(_ settings: Settings, _ report: Report) throws {
    let (small, large) = (try measure(0.01, settings), try measure(settings.choose(full: 0.1, quick: 0.03), settings))
    for (index, query) in TPCH.queries.enumerated() {
      let (rows, found) = (large.lineItems, large.found[index])
      let name = "Q\(query.number)"
      if !found.latency.values.isEmpty {
        report.add("\(name), p50 of one-row changes that concern it", rows: rows, found.latency, "ms", .atMost(10))
        report.compare("  SQLite running it against that", rows: rows, found.statement, against: found.latency, "ms")
      }
      report.add(
        "\(name), processor time, the worst table (\(found.worst))", rows: rows, found.processor, "ms", .atMost(6))
      report.add("  a refresh of ten orders, processor time", rows: rows, found.refresh, "ms", .atMost(20))
      report.compare(
        "  growth of processor time from a smaller scale", found.processor, against: small.found[index].processor, "ms",
        .atMost(1.5))
    }
    report.add("memory of a server with all 22", rows: large.lineItems, large.memory, "MB", .atMost(150))
  }

  /// The results of one query.
  private struct Found {
    var latency = Samples()
    var processor = Samples()
    /// The table whose changes took the most of it.
    var worst = ""
    var refresh = Samples()
    var statement = Samples()
  }

  private static func measure(
    _ scale: Double, _ settings: Settings
  ) throws -> (lineItems: Int, found: [Found], memory: Samples) {
    let data = try TPCH(scale: scale)
    defer { data.remove() }
    let writer = Writer(data)
    var all: [Found] = []
    for query in TPCH.queries {
      let side = try Side(data, [query])
      defer { side.stop() }
      var found = Found()
      let start = now()
      _ = writer.database.prepare(query.sql).texts
      found.statement.add(Double(now() - start) / 1e6)
      // Work that is done at a table's first change. Few of these changes concern a query's result.
      var first = Latencies()
      for table in Writer.tables { _ = try side.change(1, &first) { writer.change(table) } }
      for _ in 0..<settings.choose(full: 3, quick: 1) {
        let count = settings.choose(full: 12, quick: 5)
        var worst = 0.0
        for table in Writer.tables {
          let processor = try side.change(count, &first) { writer.change(table) }
          if processor > worst { (worst, found.worst) = (processor, table) }
        }
        found.processor.add(worst)
        found.refresh.add(try side.change(2, &first) { writer.refresh() })
        var latencies = Latencies()
        var rows = writer.database.prepare("\(query.change.rows) LIMIT \(count)").texts
        _ = try side.change(rows.count, &latencies) {
          writer.database.execute(query.change.sql.replacing("$1", with: rows.removeLast()))
        }
        if latencies.count > 0 { found.latency.add(latencies.percentile(50) / 1e3) }
      }
      all.append(found)
    }
    let together = try Side(data, TPCH.queries)
    defer { together.stop() }
    var memory = Samples()
    memory.add(Double(together.memory) / 1e6)
    return (writer.lineItems, all, memory)
  }

  /// A server with some of the queries as lists.
  private final class Side {
    private let server: Server
    private let socket: LiveSocket

    init(_ data: TPCH, _ queries: [TPCH.Query]) throws {
      // It would run each query now and then, while a few changes are measured.
      server = try Server(data.path, options: ["--self-check", "off"])
      socket = try LiveSocket(port: server.port)
      for query in queries { try socket.subscribe("q\(query.number)", query.json, window: nil) }
      try settle()
    }

    func stop() { server.stop() }
    var memory: Int { server.memory }

    /// Waits until nothing runs: tables are read, and values that other lists keep.
    private func settle() throws {
      var (before, quiet) = (server.cpu, 0)
      while quiet < 5 {
        usleep(100_000)
        quiet = server.cpu - before < 5_000_000 ? quiet + 1 : 0
        before = server.cpu
      }
      try socket.drain(milliseconds: 10)
    }

    /// - Parameter latencies: those of the changes that gave a patch are added.
    /// - Returns: milliseconds of processor time for each.
    func change(_ count: Int, _ latencies: inout Latencies, _ body: () -> Void) throws -> Double {
      let before = server.cpu
      for _ in 0..<count {
        body()
        let start = now()
        if try socket.receiveIfAny(milliseconds: 40) != nil {
          latencies.record(now() - start)
          try socket.drain(milliseconds: 10)
        }
      }
      // Runs from here on belong to this change.
      try settle()
      return Double(server.cpu - before) / Double(max(1, count)) / 1e6
    }
  }

  /// The program that changes rows.
  private final class Writer {
    static let tables = ["lineitem", "orders", "customer", "partsupp", "supplier", "part"]

    let database: RawDatabase
    let lineItems: Int
    private let data: TPCH
    private var next = 0
    private var nextOrder: Int

    init(_ data: TPCH) {
      self.data = data
      database = RawDatabase(data.path)
      lineItems = Int(database.prepare("SELECT count(*) FROM lineitem").texts[0]) ?? 0
      nextOrder = (Int(database.prepare("SELECT max(o_orderkey) FROM orders").texts[0]) ?? 0) + 1
    }

    /// Chooses one of the original orders.
    private func order() -> Int {
      let place = next * 7_919 % data.orders
      return place / 8 * 32 + place % 8 + 1
    }

    func change(_ table: String) {
      next += 1
      switch table {
      case "lineitem":
        database.execute(
          "UPDATE lineitem SET l_quantity = 1 + (l_quantity + 7) % 50, l_extendedprice = l_extendedprice + 1 WHERE l_orderkey = \(order()) AND l_linenumber = 1"
        )
      case "orders":
        database.execute(
          "UPDATE orders SET o_totalprice = o_totalprice + 1, o_custkey = 1 + (o_custkey + 3) % \(data.customers) WHERE o_orderkey = \(order())"
        )
      case "customer":
        database.execute(
          "UPDATE customer SET c_acctbal = c_acctbal + 1 WHERE c_custkey = \(1 + next * 7_919 % data.customers)")
      case "partsupp":
        database.execute(
          "UPDATE partsupp SET ps_supplycost = ps_supplycost + 1, ps_availqty = ps_availqty + 1 WHERE rowid = \(1 + next * 7_919 % (data.parts * 4))"
        )
      case "supplier":
        database.execute(
          "UPDATE supplier SET s_acctbal = s_acctbal + 1, s_name = s_name || '.' WHERE s_suppkey = \(1 + next * 7_919 % data.suppliers)"
        )
      default:
        database.execute("UPDATE part SET p_size = 1 + p_size % 50 WHERE p_partkey = \(1 + next * 7_919 % data.parts)")
      }
    }

    /// The specification's refresh functions: ten orders come with their line items, and ten go with theirs.
    func refresh() {
      database.execute("BEGIN")
      for _ in 0..<10 {
        next += 1
        let model = order()
        database.execute(
          """
          INSERT INTO orders SELECT \(nextOrder), o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, 0, o_comment FROM orders
            WHERE o_orderkey = \(model);
          INSERT INTO lineitem SELECT \(nextOrder), l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
            l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode FROM lineitem WHERE l_orderkey = \(model);
          """)
        nextOrder += 1
      }
      let gone = nextOrder - 20
      database.execute(
        "DELETE FROM lineitem WHERE l_orderkey >= \(gone) AND l_orderkey < \(gone + 10) AND l_orderkey > \(data.orders * 4); DELETE FROM orders WHERE o_orderkey >= \(gone) AND o_orderkey < \(gone + 10) AND o_orderkey > \(data.orders * 4)"
      )
      database.execute("COMMIT")
    }
  }
}
