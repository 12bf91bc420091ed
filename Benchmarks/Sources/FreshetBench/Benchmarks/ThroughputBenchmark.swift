import Foundation

/// Guards: an application may commit often while 100 clients follow lists of what it writes. The highest rate of
/// commits by another process at which changes are with the clients within 100 ms (99 of 100), found by trying; each
/// client has a window of 50 rows of one of the profile's lists. Baseline: as many commits as SQLite makes on a file
/// that is not watched, before and after. Commits wait for no disk. A server that keeps up with whatever the writer
/// commits reaches what is left of the processors to the writer.
enum ThroughputBenchmark: Benchmark {
  static let name = "throughput"
  private static let clients = 100
  /// In milliseconds.
  private static let bound = 100.0

  static func run(_ settings: Settings, _ report: Report) throws {
    for profile in ThroughputProfile.allCases {
      let alone = try Side(profile)
      defer { alone.stop() }
      var most = [try alone.commit(nil, settings).rate]
      let followed = try Side(profile)
      defer { followed.stop() }
      let audience = try Audience(profile, followed.path, clients)
      defer { audience.stop() }
      let (rate, age) = try highestRate(followed, audience, most[0], settings)
      most.append(try alone.commit(nil, settings).rate)
      report.compare(
        "\(profile.rawValue): commits, lists within 100 ms", Samples([rate]),
        against: Samples([most.reduce(0, +) / 2]), "a second")
      report.add("  age of changes at that rate, p99", Samples([age]), "ms", .atMost(bound))
    }
  }

  /// Halves a rate that is too high, then goes between.
  ///
  /// - Returns: commits a second, and the age of changes at that rate.
  private static func highestRate(
    _ side: Side, _ audience: Audience, _ most: Double, _ settings: Settings
  ) throws -> (rate: Double, age: Double) {
    func attempt(_ wanted: Double?) throws -> (rate: Double, age: Double)? {
      let (rate, age) = try side.commit(wanted, settings, audience)
      return age <= bound ? (rate, age) : nil
    }
    // The first commits are those in which tables are read for the first time.
    _ = try side.commit(100, settings, audience)
    if let best = try attempt(nil) { return best }
    var high = most
    var best: (rate: Double, age: Double)?
    while best == nil {
      high /= 2
      if high < 1 { return (0, .infinity) }
      best = try attempt(high)
    }
    var low = high
    high *= 2
    for _ in 0..<settings.choose(full: 4, quick: 2) {
      let middle = (low + high) / 2
      if let better = try attempt(middle) { (low, best) = (middle, better) } else { high = middle }
    }
    return best!
  }

  /// A file, and the program that writes to it.
  private final class Side {
    private let folder: Folder
    let path: String
    private let writer: Child

    init(_ profile: ThroughputProfile) throws {
      folder = try Folder()
      path = folder.path("throughput.sqlite")
      RawDatabase(path).execute(profile.schema)
      writer = try Child(Programs.own("FreshetBench"), ["commit", path, profile.rawValue])
      _ = try writer.hear()
    }

    func stop() {
      writer.stop()
      folder.remove()
    }

    /// Commits for some seconds.
    ///
    /// - Parameter rate: commits a second; nil: as many as go.
    /// - Returns: commits a second, and the 99th percentile of their ages in milliseconds.
    func commit(_ rate: Double?, _ settings: Settings, _ audience: Audience? = nil) throws -> (
      rate: Double, age: Double
    ) {
      let seconds = settings.choose(full: 5, quick: 2)
      audience?.forget()
      try writer.tell("\(Int(rate ?? 0)) \(seconds)")
      let end = now() + seconds * 1_000_000_000
      while let audience, now() < end { try audience.read() }
      let reached = Double(try writer.hear()) ?? .nan
      try audience?.settle()
      return (reached, audience?.age ?? 0)
    }
  }

  /// A server and its clients: a few that look at what comes, one for each list, and a crowd that counts.
  private final class Audience {
    private let server: Server
    private let crowd: Crowd
    private let probes: [LiveSocket]
    private var latencies = Latencies()
    /// Since when commits are counted.
    private var start = 0

    init(_ profile: ThroughputProfile, _ path: String, _ clients: Int) throws {
      let server = try Server(path)
      self.server = server
      probes = try profile.queries.map { query in
        let socket = try LiveSocket(port: server.port)
        try socket.subscribe("a", query)
        return socket
      }
      let others = clients - profile.queries.count
      crowd = try Crowd(others, port: server.port)
      for member in 0..<others {
        try crowd.send(member, LiveSocket.subscription("a", profile.queries[member % profile.queries.count]))
      }
      try crowd.receive(upTo: 2 * others)
    }

    func stop() { server.stop() }

    func forget() { (latencies, start) = (Latencies(), now()) }

    /// In milliseconds; nothing came: infinite.
    var age: Double { latencies.count == 0 ? .infinity : latencies.percentile(99) / 1e3 }

    func read() throws {
      try crowd.read(milliseconds: 1)
      for probe in probes {
        while let message = try probe.receiveIfAny(milliseconds: 0) {
          latencies.record(agesOfChanges: message, since: start)
        }
      }
    }

    /// Takes what is on its way.
    func settle() throws {
      var before = -1
      while before != crowd.messages + latencies.count {
        before = crowd.messages + latencies.count
        let end = now() + 300_000_000
        while now() < end { try read() }
      }
    }
  }

  /// The writer: for every line with commits a second (0: as many as go) and seconds, prints how many there were a
  /// second.
  static func write(_ path: String, _ profile: ThroughputProfile) {
    let database = RawDatabase(path)
    let statements = profile.statements.map(database.prepare)
    let (begin, commit) = (database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT"))
    say("ready")
    var number = 0
    while let line = readLine() {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      let start = now()
      var commits = 0
      while now() - start < numbers[1] * 1_000_000_000 {
        if numbers[0] > 0 { sleep(until: start + commits * (1_000_000_000 / numbers[0])) }
        number += 1
        commits += 1
        let at = now()
        begin.run()
        for statement in statements {
          statement.bind(1, number)
          statement.bind(2, at)
          statement.run()
        }
        commit.run()
      }
      say("\(Double(commits) * 1e9 / Double(now() - start))")
    }
  }
}
