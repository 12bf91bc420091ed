import Foundation

/// Guards: a writer that commits now and then, and does not wait for its disk, commits as fast while a list of its file
/// is open and changes with each commit as on a file that is not watched, and yet patches come soon. The writer is a
/// process of its own; the clock of its commit starts before the statement, that of a patch too. Baseline: the same
/// writer on a file that is not watched.
enum PacedBenchmark: Benchmark {
  static let name = "paced"
  static let rows = 1_000

  static func run(_ settings: Settings, _ report: Report) throws {
    for microseconds in [200, 2_000, 20_000] { try run(settings, report, microseconds) }
  }

  private static func run(_ settings: Settings, _ report: Report, _ microseconds: Int) throws {
    let folder = try Folder()
    defer { folder.remove() }
    let paths = ["served", "plain"].map { folder.path("\($0).sqlite") }
    for path in paths {
      RawDatabase(path).execute(
        """
        CREATE TABLE event(id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
        WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT \(rows)) INSERT INTO event SELECT i, 0 FROM r;
        """)
    }
    let server = try Server(paths[0])
    defer { server.stop() }
    let socket = try LiveSocket(port: server.port)
    try socket.subscribe("a", #"{"from":"event","orderBy":["id"]}"#, window: nil)
    let writers = try paths.map { path in
      let child = try Child(Programs.own("FreshetBench"), ["pace", path])
      _ = try child.hear()
      return child
    }
    let commits = settings.choose(full: 4_000_000, quick: 1_500_000) / microseconds
    let patience: Int32 = 500
    var ages = Samples()
    var busy = Samples()
    let samples = try settings.inTurns([
      { samples in
        var latencies = Latencies()
        let (cpu, start) = (server.cpu, now())
        try writers[0].tell("\(microseconds) \(commits)")
        while let message = try socket.receiveIfAny(milliseconds: patience) {
          latencies.record(agesOfChanges: message, since: start)
        }
        busy.add(Double(server.cpu - cpu) / Double(now() - start) * 100)
        samples.add(Double(try writers[0].hear()) ?? .nan)
        if latencies.count < commits / 2 { throw Failure("of \(commits) commits \(latencies.count) came") }
        ages.add(latencies.percentile(50))
      },
      { samples in
        try writers[1].tell("\(microseconds) \(commits)")
        samples.add(Double(try writers[1].hear()) ?? .nan)
      },
    ])
    let pace = "every \((Double(microseconds) / 1e3).short) ms"
    report.compare("a commit, one \(pace): p50", samples[0], against: samples[1], "µs", .atMost(1.05))
    report.add("  until its patch is there: p50", ages, "µs", .atMost(300))
    report.add("  processor time of the server", busy, "%")
  }

  /// The writer: for every line with microseconds between commits and their number, prints the median time of a commit
  /// in microseconds.
  static func write(_ path: String) {
    let database = RawDatabase(path)
    let update = database.prepare("UPDATE event SET at = ?2 WHERE id = ?1")
    say("ready")
    var id = 0
    while let line = readLine() {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      var latencies = Latencies()
      for _ in 0..<numbers[1] {
        usleep(UInt32(numbers[0]))
        id = (id + 79) % rows
        let start = now()
        update.bind(1, id + 1)
        update.bind(2, start)
        update.run()
        latencies.record(now() - start)
      }
      say("\(latencies.percentile(50))")
    }
  }
}
