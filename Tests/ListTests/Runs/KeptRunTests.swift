import TestSupport
import Testing

/// Runs that failed once, as small as they could be made: `Tests/Fixtures/failures/lists`.
@Suite struct KeptRunTests {
  @Test(arguments: ListRun.kept())
  func whatWasWrongOnceIsRight(kept: KeptRun<ListRun>) throws {
    let failure = try kept.run.failure()
    #expect(failure == nil, "\(kept.run.story)")
  }
}
