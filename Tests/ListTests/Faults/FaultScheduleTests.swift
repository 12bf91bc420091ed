import TestSupport
import Testing

extension FaultyFileTests {
  /// Reads, locks and mappings of the WAL-index fail at any point of ticks and of readers' jobs, in every journal mode,
  /// while lists are in every phase: being opened, run again, read for windows, changed to another query, or with
  /// clients that read nothing for a while. When nothing fails any more, each list equals SQLite's answer, without
  /// another commit.
  ///
  /// `FRESHET_SEED=n swift test --filter FaultScheduleTests` repeats a failure; `FRESHET_SEEDS=n` runs n seeds.
  @Suite(.serialized) struct FaultScheduleTests {
    private static let seeds: [UInt64] = {
      if let repeated = PropertySeeds.repeated { return [repeated] }
      // In this run, a requery waited for rows that could not be read, and was forgotten.
      let kept: [UInt64] = [830_452_320_416]
      let first = UInt64.random(in: 0..<1 << 40)
      return kept + (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(3, long: 20)))).map { first + $0 }
    }()

    private static let modes = ["wal", "persist", "delete", "truncate"]

    @Test(arguments: seeds, modes)
    func listsComeRightWithoutAnotherCommit(seed: UInt64, mode: String) throws {
      var generator = FaultGenerator(seed: seed)
      let run = FaultRun(
        mode: mode, isLarge: seed % 3 == 2,
        steps: (0..<25).flatMap { _ in (0..<14).map { _ in generator.step() } + [.compare] })
      var faults: Int?
      _ = try? run.perform { faults = $0 }
      guard let faults else {
        let problem = try run.report("faults-\(mode)-\(seed)")
        #expect(problem == nil, "FRESHET_SEED=\(seed), \(mode)")
        return
      }
      #expect(faults > 2, "only \(faults) faults, seed \(seed), \(mode)")
    }

    /// Runs that failed once, as small as they could be made.
    @Test(arguments: FaultRun.kept())
    func whatWasWrongOnceIsRight(kept: KeptRun<FaultRun>) throws {
      let failure = try kept.run.failure()
      #expect(failure == nil, "\(kept.run.story)")
    }
  }
}
