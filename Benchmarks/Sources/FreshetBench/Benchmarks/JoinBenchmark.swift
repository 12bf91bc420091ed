import Foundation

/// Guards: a change of a joined row costs what the rows that join it cost: 10 of them, in a list of all items.
/// Baseline: a change of one row of the first table.
enum JoinBenchmark: Benchmark {
  static let name = "join"

  static func run(_ settings: Settings, _ report: Report) throws {
    let file = try Items(rows: settings.usualSize, owners: 10_000)
    defer { file.remove() }
    let server = try Server(file.path)
    defer { server.stop() }
    let socket = try LiveSocket(port: server.port)
    try socket.subscribe(
      "a",
      """
      {"from":"item JOIN owner ON owner.id = item.owner","select":["item.value","owner.name"],"orderBy":["item.id"]}
      """)
    let database = RawDatabase(file.path)
    let row = database.prepare("UPDATE item SET value = value + 1 WHERE id = ?1")
    let owner = database.prepare("UPDATE owner SET name = name || 'x' WHERE id = ?1")
    let changes = settings.choose(full: 300, quick: 100)
    let samples = try settings.inTurns([
      // Owners of the first rows, of whom each has 10 in the window.
      { $0.add(try cpu(server, socket, changes, owner) { 10_001 + $0 % 5 }) },
      { $0.add(try cpu(server, socket, changes, row) { 1 + $0 % 50 }) },
    ])
    report.compare("a joined row of 10, CPU per change", samples[0], against: samples[1], "µs", .atMost(5))
  }

  private static func cpu(
    _ server: Server, _ socket: LiveSocket, _ changes: Int, _ update: RawDatabase.Statement, _ id: (Int) -> Int
  ) throws -> Double {
    usleep(200_000)
    let start = server.cpu
    for change in 0..<changes {
      update.bind(1, id(change))
      update.run()
      try socket.receive("patch", seconds: 5)
      usleep(1_000)
    }
    usleep(100_000)
    return Double(server.cpu - start) / Double(changes) / 1e3
  }
}
