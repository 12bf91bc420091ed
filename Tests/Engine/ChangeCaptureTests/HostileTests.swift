import Foundation
import TestSupport
import Testing

@testable import ChangeCapture

/// Hostile writers against SELECT: after every tick, the rows that are reported are exactly the difference of two
/// SELECTs in the same snapshots, whatever was done to the file in between.
///
/// `FRESHET_SEED=n swift test --filter HostileTests` repeats a failure, `FRESHET_TICKS=n` sets the number of ticks
/// (`make hostile`). Seeds that failed once are in `Fixtures/hostile.json`, and run first. With
/// `FRESHET_HISTORY=FOLDER` each run writes its history for `scripts/check-history.py`, and the writers of every second
/// seed keep a ledger. Set the same variable to repeat a seed.
@Suite struct HostileTests {
  /// The way in which the file is written.
  enum Way: String, CaseIterable {
    /// One transaction in a tick.
    case paced
    /// Many in a tick, so that the WAL starts over in between.
    case bursts
    /// Several writers at full speed, that are killed at random moments.
    case crowd
    /// Writers that end in the middle of their commits.
    case deaths
    /// Without a WAL, and with one now and then.
    case journal
    /// Thousands of rows in pages of 512 bytes: trees of several levels.
    case big

    /// The share of the ticks, in percent.
    var share: Int {
      switch self {
      case .paced: 40
      case .bursts: 15
      case .crowd: 15
      case .deaths: 15
      case .journal: 13
      case .big: 2
      }
    }

    var ticksOfSeed: Int { self == .big ? 40 : 250 }

    var writerOptions: [String] {
      switch self {
      case .journal: ["journal"]
      case .big: ["big"]
      default: []
      }
    }
  }

  private static let ticks =
    ProcessInfo.processInfo.environment["FRESHET_TICKS"].flatMap(Int.init) ?? TestDepth.count(6_000, long: 20_000)

  struct Run: CustomStringConvertible, Sendable {
    let way: Way
    let seed: UInt64

    var description: String { "\(way), seed \(seed)" }
  }

  /// Runs that failed once, and as many new ones as are needed; or the run to repeat.
  private static let runs: [Run] = {
    if let seed = PropertySeeds.repeated {
      return Way.allCases.map { Run(way: $0, seed: seed) }
    }
    let file = Fixtures.file("hostile.json")
    let kept = (try? JSONDecoder().decode([String: [UInt64]].self, from: Data(contentsOf: file))) ?? [:]
    return Way.allCases.flatMap { way in
      let count = max(1, ticks * way.share / 100 / way.ticksOfSeed)
      let fresh = (0..<count).map { _ in UInt64.random(in: 0 ... .max) }
      return ((kept[way.rawValue] ?? []) + fresh).map { Run(way: way, seed: $0) }
    }
  }()

  @Test(arguments: runs)
  func everyDifferenceIsTold(_ run: Run) throws {
    let scenario = try Scenario(run)
    let start = ContinuousClock.now
    defer { print(run, ContinuousClock.now - start) }
    for index in 0..<run.way.ticksOfSeed {
      try scenario.write()
      let wrong = try scenario.tick(isLast: index == run.way.ticksOfSeed - 1)
      let history = HostileHistory.folder.map { "FRESHET_HISTORY=\($0) " } ?? ""
      let context = "\(history)FRESHET_SEED=\(run.seed), \(run.way), tick \(index), \(scenario.options)"
      #expect(wrong == [], "\(context)")
      if !wrong.isEmpty { return }
    }
    let count = scenario.follower.count
    let comparisons = scenario.follower.capture.statistics.comparisons
    // After single commits, a page's former image nearly always still exists, unless everything had to be compared.
    if run.way == .paced, !scenario.options.readsSlowly {
      // While a table is read again after a comparison, any commit may have changed it.
      let limit = count.ticks / 5 + comparisons.values.reduce(0, +) * 4
      #expect(count.unknown <= limit, "FRESHET_SEED=\(run.seed): \(count), compared: \(comparisons)")
    }
    // A few rows are rewritten with the same values, and more when columns changed. A capture that reported unwritten
    // rows would report hundreds in each tick.
    #expect(count.rewritten * 2 <= count.rows + 500, "FRESHET_SEED=\(run.seed): \(count)")
    print(run, count, comparisons.map { "\($0.key) \($0.value)" })
  }

  /// One file, its writers and its follower.
  private final class Scenario {
    let run: Run
    let folder: TemporaryFolder
    let path: String
    let options: HostileFollower.Options
    let follower: HostileFollower
    private var random: SeededGenerator
    private var writers: [HostileWriter] = []
    private let history: HostileHistory?
    private var started = 0
    private static let ticksBetweenLooks = 25
    private var ticks = 0

    init(_ run: Run) throws {
      self.run = run
      random = SeededGenerator(seed: run.seed)
      folder = try TemporaryFolder()
      path = folder.path("t.sqlite")
      history = try HostileHistory(run)
      let plain = Bool.random(using: &random) ? ["plain"] : []
      let maker = try HostileWriter(
        path, seed: run.seed, ["create"] + run.way.writerOptions + plain, ledger: Self.ledger(0, history))
      _ = maker.run(run.way == .big ? 100 : 30)
      var options = HostileFollower.Options()
      if Int.random(in: 0..<3, using: &random) == 0 { options.memoryLimit = 0 }
      options.readsSlowly = Int.random(in: 0..<6, using: &random) == 0
      options.remembers = Bool.random(using: &random)
      self.options = options
      follower = try HostileFollower(path: path, options, history)
      writers = [maker]
      if run.way == .crowd { for _ in 0..<3 { try startWriter() } }
    }

    /// The ledger of a writer: each has numbers of its own.
    private static func ledger(_ writer: Int, _ history: HostileHistory?) -> HostileWriter.Ledger? {
      guard let history, history.hasLedger else { return nil }
      return .init(first: writer * 10_000_000) { id, outcome in
        history.add("writer \(writer)", "write", outcome: outcome, ["id": id])
      }
    }

    private func startWriter() throws {
      var options = run.way.writerOptions
      if run.way == .deaths { options.append("die=\(Int.random(in: 1...300, using: &random))") }
      started += 1
      let writer = try HostileWriter(
        path, seed: .random(in: 0 ... .max, using: &random), options, ledger: Self.ledger(started, history))
      if run.way == .crowd { writer.runForEver() }
      writers.append(writer)
    }

    /// Writes between two ticks.
    func write() throws {
      switch run.way {
      case .paced, .big: try write(1)
      case .bursts: try write(Int.random(in: 1...40, using: &random))
      case .journal: try write(Int.random(in: 1...3, using: &random))
      case .deaths: try write(Int.random(in: 1...6, using: &random))
      case .crowd:
        // They also write during the SELECTs of the tick.
        guard Int.random(in: 0..<12, using: &random) == 0 else { return }
        killFirst()
        try startWriter()
      }
    }

    /// - Returns: the capture's errors.
    func tick(isLast: Bool) throws -> [String] {
      ticks += 1
      if run.way == .crowd, isLast { while !writers.isEmpty { killFirst() } }
      for writer in writers { writer.takeNotes() }
      let isQuiet = isLast || (run.way != .crowd && ticks % Self.ticksBetweenLooks == 0)
      return try follower.tick(isQuiet: isQuiet)
    }

    private func killFirst() {
      writers.removeFirst().kill()
      history?.add("kill", "fault")
    }

    private func write(_ transactions: Int) throws {
      while !writers[0].run(transactions) {
        writers.removeFirst()
        history?.add("death", "fault")
        // The next writer rolls back a journal that was left.
        if writers.isEmpty { try startWriter() }
      }
      if run.way != .big, Int.random(in: 0..<40, using: &random) == 0 {
        killFirst()
        try startWriter()
      } else if writers.count < 3, Int.random(in: 0..<30, using: &random) == 0 {
        try startWriter()
      }
      writers.shuffle(using: &random)
    }
  }
}
