import Foundation

/// Guards: what a change costs reaches the queries that it concerns, and not the others: 10,000 queries that differ in a
/// parameter, of which one is concerned, against one; a change in a joined table that concerns 10 rows, against one row's.
struct QueriesBenchmark {
  let changes: Int
  let rows: Int
  private static let queries = 10_000
  private static let queriesPerConnection = 1_000

  struct Outcome {
    /// Server CPU for one change with one query open, and with 10,000, in microseconds.
    var oneQuery = 0.0
    var manyQueries = 0.0
    /// Of a row of the first table of a join, and of a row of the other one that 10 rows join.
    var oneRow = 0.0
    var joined = 0.0
  }

  func run() throws -> Outcome {
    let file = Items(rows: rows, owners: Self.queries)
    defer { file.remove() }
    var outcome = Outcome()
    let database = Database(file.path)
    // In turns: the machine is noisy.
    outcome.oneQuery = try routed(1, file, database)
    outcome.manyQueries = try routed(Self.queries, file, database)
    (outcome.oneRow, outcome.joined) = try join(file, database)
    return outcome
  }

  /// Changes of rows that one of `count` queries has.
  private func routed(_ count: Int, _ file: Items, _ database: Database) throws -> Double {
    let server = try Server(file.path)
    defer { server.stop() }
    var sockets: [LiveSocket] = []
    for first in stride(from: 0, to: count, by: Self.queriesPerConnection) {
      let socket = LiveSocket(port: server.port)
      for owner in first..<min(first + Self.queriesPerConnection, count) {
        socket.send(
          """
          {"type":"subscribe","id":"\(owner)","query":{"from":"item","where":"owner = :owner","params":{"owner":\(owner)},
          "orderBy":["value"]}}
          """)
        _ = socket.receive()
      }
      sockets.append(socket)
    }
    let update = database.prepare("UPDATE item SET value = value + 1 WHERE id = ?1")
    // Rows of owner 0, whom the first connection has.
    let ids = stride(from: Self.queries, through: rows, by: Self.queries).map { $0 }
    return cpuPerChange(server, sockets[0]) { change in
      update.bind(1, ids[change % ids.count])
      update.run()
    }
  }

  private func join(_ file: Items, _ database: Database) throws -> (oneRow: Double, joined: Double) {
    let server = try Server(file.path)
    defer { server.stop() }
    let socket = LiveSocket(port: server.port)
    socket.send(
      """
      {"type":"subscribe","id":"a","window":{"offset":0,"limit":50},"query":{"from":"item JOIN owner ON owner.id = item.owner",
      "select":["item.value","owner.name"],"orderBy":["item.id"]}}
      """)
    _ = socket.receive()
    let row = database.prepare("UPDATE item SET value = value + 1 WHERE id = ?1")
    let owner = database.prepare("UPDATE owner SET name = name || 'x' WHERE id = ?1")
    var oneRow: [Double] = []
    var joined: [Double] = []
    for _ in 0..<3 {
      oneRow.append(
        cpuPerChange(server, socket) { change in
          row.bind(1, 1 + change % 50)
          row.run()
        })
      joined.append(
        cpuPerChange(server, socket) { change in
          // Owners of the first rows, of whom each has 10 in the table's first part.
          owner.bind(1, Self.queries + 1 + change % 5)
          owner.run()
        })
    }
    return (median(oneRow), median(joined))
  }

  private func cpuPerChange(_ server: Server, _ socket: LiveSocket, _ change: (Int) -> Void) -> Double {
    usleep(200_000)
    let start = server.cpu
    for number in 0..<changes {
      change(number)
      precondition(socket.isReadable(milliseconds: 2_000), "no patch came")
      _ = socket.receive()
      usleep(2_000)
    }
    usleep(100_000)
    return Double(server.cpu - start) / Double(changes) / 1e3
  }
}

/// Items, each of one of many owners; the first 50 of five owners of their own, ten each.
struct Items {
  let path: String

  init(rows: Int, owners: Int) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-bench-\(UUID().uuidString)")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "items.sqlite").path
    Database(path).execute(
      """
      CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE item(id INTEGER PRIMARY KEY, owner INT NOT NULL REFERENCES owner(id), value INT NOT NULL);
      WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r LIMIT \(owners + 10))
      INSERT INTO owner SELECT i, 'Owner ' || i FROM r;
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT \(rows))
      INSERT INTO item SELECT i, CASE WHEN i <= 50 THEN \(owners) + 1 + i % 5 ELSE i % \(owners) END, i * 7919 % 1000 FROM r;
      CREATE INDEX item_owner ON item(owner);
      """)
  }

  func remove() {
    try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
  }
}
