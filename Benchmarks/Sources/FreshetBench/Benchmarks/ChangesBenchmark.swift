import Foundation

/// Guards: the feed of changes is as quick as a list, has an event for each commit of a fast writer, which it costs
/// nothing, and takes little memory. Baselines: the same commits' patches in another client; the same writer on a file
/// that is served while its feed is not read. The server keeps its state, as it does by default. The writer is a
/// process of its own; the clock of its commit starts before the statement.
enum ChangesBenchmark: Benchmark {
  static let name = "changes"
  private static let rows = 100_000

  static func run(_ settings: Settings, _ report: Report) throws {
    for microseconds in [2_000, 20_000] { try compareWithList(settings, report, microseconds) }
    try follow(settings, report)
    try measureMemory(settings, report)
  }

  /// A table, a server of its own that keeps its state, and the program that writes.
  private struct Side {
    private let folder: Folder
    /// An application that has the file open, so that its log stays.
    private let application: RawDatabase
    let server: Server
    let writer: Child

    init(rows: Int, writer: String) throws {
      folder = try Folder()
      let path = folder.path("changes.sqlite")
      application = RawDatabase(path)
      // Times take as many bytes as later ones: updates split no pages.
      application.execute(
        """
        CREATE TABLE event(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, note TEXT NOT NULL);
        WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT \(rows))
        INSERT INTO event SELECT i, \(now()), 'What is known of number ' || i FROM r;
        """)
      server = try Server(path, states: folder.path("states"))
      self.writer = try Child(Programs.own("FreshetBench"), [writer, path])
      _ = try self.writer.hear()
    }

    func openFeed() throws -> LiveSocket {
      let socket = try LiveSocket(port: server.port)
      try socket.send(#"{"type":"changes","id":"a","tables":["event"]}"#)
      try socket.receive("changes")
      return socket
    }

    func stop() {
      writer.stop()
      server.stop()
      folder.remove()
    }
  }

  // MARK: - Latency

  private static func compareWithList(_ settings: Settings, _ report: Report, _ microseconds: Int) throws {
    let side = try Side(rows: PacedBenchmark.rows, writer: "pace")
    defer { side.stop() }
    let list = try LiveSocket(port: side.server.port)
    try list.subscribe("a", #"{"from":"event","orderBy":["id"]}"#, window: nil)
    let feed = try side.openFeed()
    let commits = settings.choose(full: 4_000_000, quick: 1_500_000) / microseconds
    var samples = [[Samples(), Samples()], [Samples(), Samples()]]
    for _ in 0..<settings.rounds {
      var latencies = [Latencies(), Latencies()]
      let start = now()
      try side.writer.tell("\(microseconds) \(commits)")
      var order = [0, 1]
      while LiveSocket.isAnyReadable([list, feed], milliseconds: 500) {
        // Neither is always read first.
        order.reverse()
        for side in order {
          guard let message = try [list, feed][side].receiveIfAny(milliseconds: 0) else { continue }
          if side == 0 {
            latencies[0].record(agesOfChanges: message, since: start)
          } else {
            latencies[1].record(Event(message), since: start)
          }
        }
      }
      _ = try side.writer.hear()
      for (index, latencies) in latencies.enumerated() {
        if latencies.count < commits / 2 { throw Failure("of \(commits) commits \(latencies.count) came") }
        samples[index][0].add(latencies.percentile(50))
        samples[index][1].add(latencies.percentile(95))
      }
    }
    let pace = "commit to event, one every \((Double(microseconds) / 1e3).short) ms, against a list's patch"
    report.compare("\(pace): p50", samples[1][0], against: samples[0][0], "µs", .atMost(1))
    report.compare("\(pace): p95", samples[1][1], against: samples[0][1], "µs")
  }

  // MARK: - A fast writer

  private static func follow(_ settings: Settings, _ report: Report) throws {
    let read = try Side(rows: rows, writer: "scatter")
    defer { read.stop() }
    let unread = try Side(rows: rows, writer: "scatter")
    defer { unread.stop() }
    let feed = try read.openFeed()
    let seconds = settings.choose(full: 5, quick: 2)
    var tallies: [Tally] = []
    var busy = Samples()
    var times = [[Samples(), Samples()], [Samples(), Samples()]]
    for _ in 0..<settings.rounds {
      for (index, side) in [read, unread].enumerated() {
        let (cpu, start) = (side.server.cpu, now())
        try side.writer.tell("10000 \(seconds)")
        var tally = Tally()
        if index == 0 {
          try tally.read(feed, since: start, seconds: seconds)
        } else {
          usleep(UInt32(seconds) * 1_000_000)
        }
        let numbers = try side.writer.hear().split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 4 else { throw side.writer.failure("does not say what it did") }
        times[index][0].add(numbers[1])
        times[index][1].add(numbers[2])
        if index == 1 { continue }
        busy.add(Double(side.server.cpu - cpu) / Double(now() - start) * 100)
        tally.end(commits: Int(numbers[0]), at: Int(numbers[3]), seconds: seconds)
        tallies.append(tally)
      }
    }
    func add(_ name: String, _ unit: String, _ goal: Goal? = nil, _ value: (Tally) -> Double) {
      report.add("  \(name)", Samples(tallies.map(value)), unit, goal)
    }
    report.add("one-row commits, 10,000 a second wanted", rows: rows, Samples(tallies.map(\.rate)), "a second")
    // Summed over all rounds, where one would be too many.
    func addTotal(_ name: String, _ value: (Tally) -> Int) {
      report.add("  \(name)", Samples([Double(tallies.map(value).reduce(0, +))]), "commits", .exactly(0))
    }
    let all = tallies.map(\.commits).reduce(0, +).grouped
    addTotal("of all \(all) those that came together with others") { $0.counted - $0.lone }
    addTotal("those that no event counts") { $0.commits - $0.counted }
    add("the most that came as one event", "commits") { Double($0.most) }
    add("updates without the former row", "%") { Double($0.updates - $0.formers) / Double($0.updates) * 100 }
    add("until the event is there: p50", "µs") { $0.latencies.percentile(50) }
    add("until the event is there: p99", "µs") { $0.latencies.percentile(99) }
    add("the last event after the writer's end", "ms") { $0.behind }
    report.add("  processor time of the server", busy, "%")
    report.compare(
      "  the writer's commit against one without a reader: p50", times[0][0], against: times[1][0], "µs", .atMost(1.05))
    report.compare(
      "  the writer's commit against one without a reader: mean", times[0][1], against: times[1][1], "µs", .atMost(1.05)
    )
  }

  /// The messages that a reader of the feed got while a writer wrote.
  private struct Tally {
    var rate = 0.0
    var commits = 0
    var counted = 0
    var lone = 0
    var most = 0
    var updates = 0
    var formers = 0
    var latencies = Latencies()
    var last = 0
    var behind = 0.0

    mutating func read(_ feed: LiveSocket, since start: Int, seconds: Int) throws {
      let end = start + seconds * 1_000_000_000
      while true {
        guard let message = try feed.receiveIfAny(milliseconds: 500) else {
          if now() > end { return }
          continue
        }
        last = now()
        let event = Event(message)
        if event.isGap { throw Failure("a gap: \(String(decoding: message, as: UTF8.self))") }
        counted += event.commits
        if event.commits == 1 { lone += 1 }
        most = max(most, event.commits)
        updates += event.times.count
        formers += event.formers
        latencies.record(event, since: start)
      }
    }

    mutating func end(commits: Int, at end: Int, seconds: Int) {
      self.commits = commits
      rate = Double(commits) / Double(seconds)
      behind = Double(max(0, last - end)) / 1e6
    }
  }

  /// The writer: for every line with commits a second and seconds, prints how many commits there were, the median and
  /// the mean of their times in microseconds, and when the last one ended.
  static func write(_ path: String) {
    let database = RawDatabase(path)
    let update = database.prepare("UPDATE event SET at = ?2 WHERE id = ?1")
    say("ready")
    while let line = readLine() {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      var latencies = Latencies()
      var (commits, total, end) = (0, 0, 0)
      let begin = now()
      while now() - begin < numbers[1] * 1_000_000_000 {
        sleep(until: begin + commits * (1_000_000_000 / numbers[0]))
        let id = Int.random(in: 1...rows)
        let start = now()
        update.bind(1, id)
        update.bind(2, start)
        update.run()
        end = now()
        latencies.record(end - start)
        total += end - start
        commits += 1
      }
      say("\(commits) \(latencies.percentile(50)) \(Double(total) / Double(commits) / 1e3) \(end)")
    }
  }

  // MARK: - Memory

  private static func measureMemory(_ settings: Settings, _ report: Report) throws {
    let wells = try Wells(rows: settings.choose(full: 1_000_000, quick: 100_000))
    defer { wells.remove() }
    var (bytes, milliseconds) = (Samples(), Samples())
    for _ in 0..<settings.rounds {
      let server = try Server(wells.path)
      defer { server.stop() }
      let socket = try LiveSocket(port: server.port)
      let idle = server.memory
      let start = now()
      try socket.send(#"{"type":"changes","id":"a","tables":["well"]}"#)
      // Its first message comes when the table has been read.
      try socket.receive("changes")
      milliseconds.add(Double(now() - start) / 1e6)
      usleep(300_000)
      bytes.add(Double(server.memory - idle) / Double(wells.rows))
    }
    report.add("memory of a feed that is opened", rows: wells.rows, bytes, "bytes a row", .atMost(12))
    report.add("  until it is open", rows: wells.rows, milliseconds, "ms")
  }
}

/// The counted parts of a `changes` message; each new row has the time at which it was written.
private struct Event {
  private(set) var isGap = false
  private(set) var commits = 0
  /// How many former rows it has.
  private(set) var formers = 0
  private(set) var times: [Int] = []

  init(_ message: [UInt8]) {
    message.withUnsafeBytes { bytes in
      var place = 0
      while place < bytes.count {
        defer { place += 1 }
        if bytes[place] != UInt8(ascii: ":") || place == 0 || bytes[place - 1] != UInt8(ascii: "\"") { continue }
        let before = UnsafeRawBufferPointer(rebasing: bytes[..<(place - 1)])
        if before.ends(with: "\"reason") { isGap = true }
        if before.ends(with: "\"commits") { commits = number(bytes, after: place) }
        if before.ends(with: "\"old") {
          formers += 1
          // Times that it has are older ones.
          while place < bytes.count, bytes[place] != UInt8(ascii: "}") { place += 1 }
        } else if before.ends(with: "\"at") {
          times.append(number(bytes, after: place))
        }
      }
    }
  }
}

private func number(_ bytes: UnsafeRawBufferPointer, after place: Int) -> Int {
  bytes[(place + 1)...].prefix { $0 >= 48 && $0 <= 57 }.reduce(0) { $0 * 10 + Int($1) - 48 }
}

extension UnsafeRawBufferPointer {
  fileprivate func ends(with name: StaticString) -> Bool {
    count >= name.utf8CodeUnitCount
      && memcmp(baseAddress! + count - name.utf8CodeUnitCount, name.utf8Start, name.utf8CodeUnitCount) == 0
  }
}

extension Latencies {
  fileprivate mutating func record(_ event: Event, since start: Int) {
    let time = now()
    for begin in event.times where begin >= start { record(time - begin) }
  }
}
