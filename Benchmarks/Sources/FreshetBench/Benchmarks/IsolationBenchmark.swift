import Foundation
import Synchronization

/// Guards: a list's latency does not depend on what other clients ask. One client follows a list of 1,000 rows, 33
/// commits a second, while others attack the server in one way after the other; the baseline is the same list while
/// nothing else happens.
enum IsolationBenchmark: Benchmark {
  static let name = "isolation"

  static func run(_ settings: Settings, _ report: Report) throws {
    let rows = settings.choose(full: 2_000_000, quick: 200_000)
    let seconds = settings.choose(full: 15, quick: 5)
    let file = try Folder()
    defer { file.remove() }
    let path = file.path("isolation.sqlite")
    RawDatabase(path).execute(
      """
      CREATE TABLE small(id INTEGER PRIMARY KEY, value INT NOT NULL);
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 1000) INSERT INTO small SELECT i, 0 FROM r;
      CREATE TABLE large(id INTEGER PRIMARY KEY, name TEXT NOT NULL, value INT NOT NULL);
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT \(rows))
      INSERT INTO large SELECT i, 'Name ' || (i * 7919 % 1000003), i % 1000 FROM r;
      """)
    let quiet = try measure(path, nil, seconds)
    report.add("quiet: p99", Samples([quiet.latencies.percentile(99) / 1e3]), "ms")
    report.add("  p50", Samples([quiet.latencies.percentile(50) / 1e3]), "ms")
    let bound = min(50, max(quiet.latencies.percentile(99) / 1e3 * 3, 1))
    for attack in Attack.allCases {
      let result = try measure(path, attack, seconds)
      let goal = attack.isBurst ? 100 : bound
      report.add("\(attack.rawValue): p99", Samples([result.latencies.percentile(99) / 1e3]), "ms", .atMost(goal))
      report.add("  p50", Samples([result.latencies.percentile(50) / 1e3]), "ms")
      report.add("  longest", Samples([result.latencies.percentile(100) / 1e3]), "ms")
      report.add("  largest memory", Samples([result.memory / 1_048_576]), "MB", .atMost(600))
      report.add("  end after SIGTERM", Samples([result.end]), "s", .atMost(10))
    }
    report.add(
      "memory when a minute has passed after all of these, against before",
      Samples([try memoryAfterwards(path, secondsEach: seconds / 3)]), "x", .atMost(1.2))
  }

  private struct Result {
    var latencies = Latencies()
    /// Bytes.
    var memory = 0.0
    /// Seconds from SIGTERM to the server's end.
    var end = 0.0
  }

  private static func measure(_ path: String, _ attack: Attack?, _ seconds: Int) throws -> Result {
    let followed = try FollowedList(path)
    defer { followed.server.stop() }
    var result = Result()
    let attackers = attack.map { Attackers($0, port: followed.server.port) }
    let large = attack == .refetched ? followed.writer.prepare("UPDATE large SET value = value + 1 WHERE id = 7") : nil
    try followed.commit(seconds: seconds) { took in
      result.latencies.record(took)
      result.memory = max(result.memory, Double(followed.server.memory))
      large?.run()
    }
    let end = now()
    followed.server.stop()
    result.end = Double(now() - end) / 1e9
    attackers?.stop()
    return result
  }

  /// - Returns: what a server takes when all attacks are over, and their lists are let go, against what it took before.
  private static func memoryAfterwards(_ path: String, secondsEach: Int) throws -> Double {
    let followed = try FollowedList(path)
    defer { followed.server.stop() }
    let before = followed.server.memory
    for attack in Attack.allCases {
      let attackers = Attackers(attack, port: followed.server.port)
      try followed.commit(seconds: secondsEach)
      attackers.stop()
    }
    // Lists linger for a minute.
    try followed.commit(seconds: 70)
    return Double(followed.server.memory) / Double(before)
  }
}

/// A list of 1,000 rows that one client follows and a program changes.
private final class FollowedList {
  let server: Server
  let writer: RawDatabase
  private let probe: LiveSocket
  private var value = 0

  init(_ path: String) throws {
    server = try Server(path)
    writer = RawDatabase(path)
    probe = try LiveSocket(port: server.port)
    try probe.subscribe("a", #"{"from":"small","orderBy":["id"]}"#, window: nil)
    // The first commits are those in which tables are read for the first time.
    for _ in 1...20 { _ = try change() }
  }

  /// A commit every 30 ms.
  ///
  /// - Parameter seen: what each took, from the commit to its patch, in nanoseconds.
  func commit(seconds: Int, _ seen: (Int) -> Void = { _ in }) throws {
    let start = now()
    while now() < start + seconds * 1_000_000_000 {
      let took = try change()
      seen(took)
      usleep(UInt32(max(0, 30_000 - took / 1_000)))
    }
  }

  /// - Returns: nanoseconds from the commit to its patch.
  private func change() throws -> Int {
    value += 1
    let start = now()
    writer.execute("UPDATE small SET value = \(value) WHERE id = 500")
    try probe.receive("patch", seconds: 120)
    return now() - start
  }
}

/// Attacks of clients on a server.
private enum Attack: String, CaseIterable {
  case recursion = "10 recursive CTEs"
  case products = "10 cross joins"
  case functions = "10 instr bombs"
  case opening = "5 clients open the large table whole"
  case refetched = "10 lists of the large table run again"
  case subscribing = "1,000 subscribes in a burst"
  case reconnecting = "200 clients reconnect with 5 lists each"
  case scrolling = "window messages at full speed"
  case silent = "200 clients that never read"

  /// Whether it is many small things instead of a few large ones.
  var isBurst: Bool { [.subscribing, .reconnecting, .scrolling, .silent].contains(self) }
}

/// Clients on a thread of their own, until they are stopped or the server is gone.
private final class Attackers: Sendable {
  private let mustStop = Atomic<Bool>(false)
  private let done = DispatchSemaphore(value: 0)

  init(_ attack: Attack, port: Int) {
    Thread.detachNewThread { [self] in
      while !mustStop.load(ordering: .relaxed) {
        // Whom the server refuses comes back.
        do { try run(attack, port) } catch { usleep(50_000) }
      }
      done.signal()
    }
  }

  func stop() {
    mustStop.store(true, ordering: .relaxed)
    _ = done.wait(timeout: .now() + 10)
  }

  private static let numbers =
    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n)"

  private func run(_ attack: Attack, _ port: Int) throws {
    switch attack {
    case .recursion:
      try each(10, port) { socket, number in
        try socket.send(LiveSocket.subscription("a", "{\"from\":\"\(Self.numbers) AS e\(number)\",\"key\":[\"c\"]}"))
      }
    case .products:
      try each(10, port) { socket, number in
        let query = #"{"from":"(SELECT count(*) AS c FROM large, large AS b, large AS c\#(number)) AS x","key":["c"]}"#
        try socket.send(LiveSocket.subscription("a", query))
      }
    case .functions:
      try each(10, port) { socket, number in
        let text = "replace(hex(zeroblob(400000)), '0', 'ab\(number)')"
        let query = "{\"from\":\"small\",\"select\":[\"instr(\(text), substr(\(text), 7) || id) AS n\"]}"
        try socket.send(LiveSocket.subscription("a", query))
      }
    case .opening:
      try each(5, port) { socket, number in
        try socket.send(LiveSocket.subscription("a", #"{"from":"large","orderBy":["name"]}"#, window: nil))
      }
    case .refetched:
      try each(10, port) { socket, number in
        let query = #"{"from":"(SELECT id, name, value FROM large LIMIT \#(244_292 + number)) AS l","key":["id"]}"#
        try socket.send(LiveSocket.subscription("a", query))
      }
    case .subscribing:
      let socket = try LiveSocket(port: port)
      for number in 0..<1_000 {
        let query = #"{"from":"small","where":"id > \#(number)","orderBy":["value"]}"#
        try socket.send(LiveSocket.subscription("\(number)", query))
      }
      try drain([socket], milliseconds: 3_000)
    case .reconnecting:
      try each(200, port, milliseconds: 1_000) { socket, number in
        for list in 0..<5 {
          let query = #"{"from":"large","where":"value = \#(number % 20 * 5 + list)","orderBy":["name"]}"#
          try socket.send(LiveSocket.subscription("\(list)", query))
        }
      }
    case .scrolling:
      let socket = try LiveSocket(port: port)
      try socket.subscribe("a", #"{"from":"large"}"#)
      while !mustStop.load(ordering: .relaxed) {
        for offset in 0..<1_000 {
          try socket.send("{\"type\":\"window\",\"id\":\"a\",\"offset\":\(offset * 50),\"limit\":50}")
        }
        try drain([socket], milliseconds: 1)
      }
    case .silent:
      var sockets: [LiveSocket] = []
      for _ in 0..<200 {
        sockets.append(try LiveSocket(port: port))
        try sockets.last?.send(LiveSocket.subscription("a", #"{"from":"large"}"#, window: nil))
      }
      while !mustStop.load(ordering: .relaxed) { usleep(10_000) }
    }
  }

  /// So many clients, each of which sends a request and then reads the answers.
  private func each(
    _ count: Int, _ port: Int, milliseconds: Int = 600_000, _ ask: (LiveSocket, Int) throws -> Void
  ) throws {
    var sockets: [LiveSocket] = []
    for number in 0..<count {
      sockets.append(try LiveSocket(port: port))
      try ask(sockets[number], number)
    }
    try drain(sockets, milliseconds: milliseconds)
  }

  private func drain(_ sockets: [LiveSocket], milliseconds: Int) throws {
    let end = now() + milliseconds * 1_000_000
    repeat {
      for socket in sockets { while try socket.receiveIfAny(milliseconds: 0) != nil {} }
      if milliseconds > 1 { usleep(2_000) }
    } while now() < end && !mustStop.load(ordering: .relaxed)
  }
}
