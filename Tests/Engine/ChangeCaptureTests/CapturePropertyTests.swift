import TestSupport
import Testing

@testable import ChangeCapture

/// Random commits of another process; the difference of two SELECTs is the oracle, in both directions: no changed row
/// is missed, and no unchanged row is reported.
///
/// `FRESHET_SEED=n swift test --filter CapturePropertyTests` repeats a failure.
@Suite struct CapturePropertyTests {
  private static let commits = 300
  private static let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)

  @Test(arguments: RandomSchema.all)
  func everyDifferenceIsTold(_ schema: RandomSchema) throws {
    var random = SeededGenerator(seed: Self.seed &+ UInt64(schema.description.utf8.count))
    let pageSize = [512, 1_024, 4_096, 65_536].randomElement(using: &random)!
    let vacuum = Int.random(in: 0...2, using: &random)
    var generator = StatementGenerator(schema: schema, seed: Self.seed)
    // In half of the runs, most states are checkpointed before the tick; in the others, ticks can pass through most of
    // them.
    let checkpointsOften = Bool.random(using: &random)
    let autocheckpoint = checkpointsOften ? Int.random(in: 1...40, using: &random) : 1_000
    let run = CaptureRun(
      setUp: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum); \(schema.sql) PRAGMA journal_mode = WAL;",
      preparation: generator.pragmas() + "PRAGMA wal_autocheckpoint = \(autocheckpoint);",
      steps: (0..<Self.commits).flatMap { index -> [RunStep] in
        [.commit(generator.commit()), [3, 5, 6].contains(index % 7) ? .readers : .tick]
      })
    var last: CaptureFixture?
    _ = try? run.perform { last = $0 }
    guard let fixture = last else {
      let problem = try run.report("capture-\(schema)-\(Self.seed)")
      #expect(problem == nil, "FRESHET_SEED=\(Self.seed), \(schema)")
      return
    }
    #expect(fixture.unknown == 0)
    #expect(fixture.decoded.unknown * 20 <= fixture.decoded.known, "\(fixture.decoded)")
    if !checkpointsOften { #expect(fixture.passed.0 > fixture.passed.not) }
    print(
      schema, pageSize, fixture.capture.statistics, fixture.decoded,
      "through \(fixture.passed.0) states, past \(fixture.passed.not)")
  }

  /// Runs that failed once, as small as they could be made.
  @Test(arguments: CaptureRun.kept())
  func whatWasWrongOnceIsRight(_ kept: KeptRun<CaptureRun>) throws {
    let failure = try kept.run.failure()
    #expect(failure == nil, "\(kept.run.story)")
  }
}
