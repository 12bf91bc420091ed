import Foundation

/// Guards: a change costs what the queries that it concerns cost, not what is open: 10,000 queries that differ in a
/// parameter, and 1,000 ranges, where the change concerns one of them. Baseline: the same change with one query open.
enum QueriesBenchmark: Benchmark {
  static let name = "queries"
  private static let perConnection = 1_000

  static func run(_ settings: Settings, _ report: Report) throws {
    let file = try Items(rows: settings.usualSize, owners: 10_000)
    defer { file.remove() }
    let changes = settings.choose(full: 200, quick: 80)
    let range = { (number: Int) in
      #"{"from":"item","where":"id > :low AND id <= :high","params":{"low":\#(number * 10 + 100),"high":\#(number * 10 + 110)}}"#
    }
    let samples = try settings.inTurns([
      { $0.add(try cpu(file, 10_000, changes, row: 10_000 + 0, Items.query)) },
      { $0.add(try cpu(file, 1, changes, row: 10_000 + 0, Items.query)) },
      { $0.add(try cpu(file, 1_000, changes, row: 105, range)) },
      { $0.add(try cpu(file, 1, changes, row: 105, range)) },
    ])
    report.compare("10,000 with a parameter, CPU per change", samples[0], against: samples[1], "µs", .atMost(1.5))
    report.compare("1,000 ranges, CPU per change", samples[2], against: samples[3], "µs", .atMost(10))
  }

  /// Server CPU for a change of a row that only the first query has, in microseconds.
  private static func cpu(
    _ file: Items, _ count: Int, _ changes: Int, row: Int, _ query: (Int) -> String
  ) throws -> Double {
    let server = try Server(file.path)
    defer { server.stop() }
    let crowd = try Crowd((count + perConnection - 1) / perConnection, port: server.port)
    for number in 0..<count {
      try crowd.send(number / perConnection, LiveSocket.subscription("\(number)", query(number), window: nil))
      if number % 100 == 99 { try crowd.receive(upTo: crowd.count + number + 1) }
    }
    try crowd.receive(upTo: crowd.count + count)
    let update = RawDatabase(file.path).prepare("UPDATE item SET value = value + 1 WHERE id = \(row)")
    usleep(200_000)
    let before = crowd.messages
    let start = server.cpu
    for _ in 0..<changes {
      let wanted = crowd.messages + 1
      update.run()
      try crowd.receive(upTo: wanted, seconds: 5)
      usleep(2_000)
    }
    usleep(100_000)
    if crowd.messages != before + changes { throw Failure("a change concerned several queries") }
    return Double(server.cpu - start) / Double(changes) / 1e3
  }
}
