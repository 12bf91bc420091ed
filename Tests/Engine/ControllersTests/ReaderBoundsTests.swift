import LiveQuery
import Logging
import Synchronization
import Testing

@testable import Following
@testable import Requests

/// Limits of readers' memory and of their queue.
@Suite struct ReaderBoundsTests {
  @Test func `Large results on their way have one budget, and give back what they took`() throws {
    let budget = ContentsBudget(limit: 100)
    let first = try budget.hold(60)
    #expect(throws: FreshetError.self) { try budget.hold(41) }
    #expect(budget.bytes == 60)
    let second = try budget.hold(40)
    #expect(budget.bytes == 100)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `One result that is too large passes while no other is on its way`() throws {
    let budget = ContentsBudget(limit: 100)
    do {
      let large = try budget.hold(1_000)
      #expect(throws: FreshetError.self) { try budget.hold(1) }
      withExtendedLifetime(large) {}
    }
    #expect(budget.bytes == 0)
    _ = try budget.hold(1)
  }

  @Test func `Beyond ten thousand waiting jobs the answer is overloaded, and those that wait are done`() throws {
    let pool = ReaderPool(FollowedFile("/nowhere"), count: 0, logger: Logger(label: "test"))
    let answers = Mutex<(done: Int, refused: [FreshetError])>((0, []))
    for number in 0..<10_005 {
      pool.post(
        ReaderJob(id: pool.newID(), requester: .session(UInt64(number % 7))) { _, _ in
          answers.withLock { $0.done += 1 }
        } failed: { error in
          answers.withLock { if error.code == .overloaded { $0.refused.append(error) } else { $0.done += 1 } }
        })
    }
    #expect(answers.withLock { $0.refused.count } == 5)
    #expect(answers.withLock { $0.refused.allSatisfy(\.code.isRetryable) })
    #expect(pool.counts.waiting == 10_000)
    #expect(pool.runAll())
    #expect(pool.counts.waiting == 0)
  }
}
