import Foundation

/// Guards: under more changes than anybody can read, everybody gets fewer and larger patches in time, memory stays
/// flat, and in the end everybody has what a SELECT gives. 10,000 changes a second in commits of 50, 1,000 subscribers
/// of a window.
enum OverloadBenchmark: Benchmark {
  static let name = "overload"
  static let rows = 2_000
  private static let query = #"{"from":"event","orderBy":["id"]}"#
  private static let subscribers = 1_000

  static func run(_ settings: Settings, _ report: Report) throws {
    let file = try Folder()
    defer { file.remove() }
    let database = RawDatabase(file.path("events.sqlite"))
    database.execute(
      """
      CREATE TABLE event(id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT \(rows)) INSERT INTO event SELECT i, 0 FROM r;
      """)
    let server = try Server(file.path("events.sqlite"))
    defer { server.stop() }
    let crowd = try Crowd(subscribers, port: server.port)
    for member in 0..<subscribers { try crowd.send(member, LiveSocket.subscription("a", query)) }
    try crowd.receive(upTo: 2 * subscribers)
    let probe = try EventProbe(port: server.port, query)
    let seconds = settings.choose(full: 60, quick: 10)
    let writer = try Child(
      Programs.own("FreshetBench"), ["flood", file.path("events.sqlite"), "10000", "\(seconds)"])

    var memory: [Double] = []
    let end = now() + seconds * 1_000_000_000
    while now() < end {
      try crowd.read(milliseconds: 5)
      try probe.readAll()
      if memory.count < (now() - end) / 1_000_000_000 + seconds { memory.append(Double(server.memory)) }
    }
    let changes = Int(try writer.hear(seconds: 30)) ?? 0
    try crowd.settle(milliseconds: 500)
    try probe.readAll()
    report.add("changes", Samples([Double(changes) / Double(seconds)]), "a second")
    report.add("from a change to the client, p99", Samples([probe.latencies.percentile(99) / 1e3]), "ms", .atMost(250))
    report.add("  p50", Samples([probe.latencies.percentile(50) / 1e3]), "ms")
    let early = Samples(Array(memory[(memory.count / 4)..<(memory.count / 2)])).median
    let late = Samples(Array(memory[(3 * memory.count / 4)...])).median
    report.add("memory of the last quarter against the second", Samples([late / early]), "times", .atMost(1.1))
    report.add(
      "rows of the client that are not those of a SELECT", Samples([Double(probe.differences(database))]), "rows",
      .exactly(0))
    let versions = Set((0..<subscribers).map { version(crowd.last($0)) })
    report.add("states in which 1,000 subscribers end", Samples([Double(versions.count)]), "", .exactly(1))
  }

  /// Where a patch leads to, or which state a snapshot shows.
  private static func version(_ message: String) -> String {
    message.firstMatch(of: /"(?:to|version)":"([^"]+)"/).map { String($0.1) } ?? message
  }
}

/// A client that keeps its window, and notes how old the changes are that come.
private final class EventProbe {
  private let socket: LiveSocket
  private var window: [Int: Int] = [:]
  private(set) var latencies = Latencies()

  init(port: Int, _ query: String) throws {
    socket = try LiveSocket(port: port)
    try socket.send(LiveSocket.subscription("a", query))
    try take(try socket.receive("snapshot"))
  }

  func readAll() throws { while let message = try socket.receiveIfAny(milliseconds: 0) { try take(message) } }

  private func take(_ bytes: [UInt8]) throws {
    let time = now()
    guard let message = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else { return }
    switch message["type"] as? String {
    case "snapshot":
      for row in message["rows"] as? [[Int]] ?? [] { window[row[0]] = row[1] }
    case "patch":
      // Rows of the only section, by id, which the path contains.
      for change in message["updated"] as? [[Any]] ?? [] {
        guard let path = change[1] as? [Int], let at = (change[2] as? [String: Int])?["at"] else {
          throw Failure("not what was asked for: \(change)")
        }
        window[path[1] + 1] = at
        latencies.record(time - at)
      }
    default: throw Failure("unexpected: \(String(decoding: bytes.prefix(300), as: UTF8.self))")
    }
  }

  func differences(_ database: RawDatabase) -> Int {
    let rows = database.prepare("SELECT id, at FROM event ORDER BY id LIMIT 50").texts
    return rows.count { row in
      let parts = row.split(separator: "|").compactMap { Int($0) }
      return window[parts[0]] != parts[1]
    } + abs(rows.count - window.count)
  }
}
