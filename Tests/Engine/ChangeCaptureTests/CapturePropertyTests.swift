import Foundation
import TestSupport
import Testing

@testable import ChangeCapture

/// Random commits of another process; the difference of two SELECTs is the oracle, in both directions: no row is missed, and
/// none is told that did not change.
///
/// `FRESHET_SEED=n swift test --filter CapturePropertyTests` repeats a failure.
@Suite struct CapturePropertyTests {
  private static let commits = 300
  private static let seed =
    PropertySeeds.repeated ?? .random(in: 0 ... .max)

  @Test(arguments: RandomSchema.all)
  func everyDifferenceIsTold(_ schema: RandomSchema) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    var random = SeededGenerator(seed: Self.seed &+ UInt64(schema.description.utf8.count))
    let pageSize = [512, 1_024, 4_096, 65_536].randomElement(using: &random)!
    try SQLiteShell(path: path).run(
      "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(Int.random(in: 0...2, using: &random)); \(schema.sql) PRAGMA journal_mode = WAL;"
    )
    let session = try SQLiteSession(path: path)
    var generator = StatementGenerator(schema: schema, seed: Self.seed)
    // In one half of the runs most states are checkpointed before the tick, in the other most can be gone through.
    let checkpointsOften = Bool.random(using: &random)
    let autocheckpoint = checkpointsOften ? Int.random(in: 1...40, using: &random) : 1_000
    try session.run(generator.pragmas() + "PRAGMA wal_autocheckpoint = \(autocheckpoint);")
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    for index in 0..<Self.commits {
      let commit = generator.commit()
      try session.run(commit)
      if [3, 5, 6].contains(index % 7) {
        try fixture.readBetweenTicks()
        continue
      }
      let (wrong, tick) = try fixture.tick()
      #expect(
        wrong == [],
        "FRESHET_SEED=\(Self.seed), \(schema), after:\n\(commit), compared: \(String(describing: tick.comparison))")
      if !wrong.isEmpty { return }
    }
    #expect(fixture.unknown == 0)
    if !checkpointsOften { #expect(fixture.passed.0 > fixture.passed.not) }
    print(
      schema, pageSize, fixture.capture.statistics, "through \(fixture.passed.0) states, past \(fixture.passed.not)")
  }
}
