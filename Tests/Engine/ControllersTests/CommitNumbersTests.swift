import Testing

@testable import ChangeCapture
@testable import Following

/// Numbers of states: followers agree on them although they have seen different states.
@Suite struct CommitNumbersTests {
  private func state(_ frames: Int, generation: UInt32 = 1) -> StateName {
    .wal(frames: frames, generation: generation)
  }

  private func exact(_ commit: Int64) -> CommitNumber { CommitNumber(commit, isExact: true) }
  private func inexact(_ commit: Int64) -> CommitNumber { CommitNumber(commit, isExact: false) }

  @Test func `Followers that have seen different states agree on those that both see`() {
    let numbers = CommitNumbers()
    #expect(numbers.number(of: state(1), before: 0, commits: 0) == exact(0))
    #expect(numbers.number(of: state(1), before: 0, commits: 0) == exact(0))
    #expect(numbers.number(of: state(5), before: 0, commits: 4) == exact(4))
    #expect(numbers.number(of: state(3), before: 0, commits: 2) == exact(2))
    #expect(numbers.number(of: state(5), before: 2, commits: 2) == exact(4))
  }

  @Test func `A reader's state has a number when a follower has seen it`() {
    let numbers = CommitNumbers()
    _ = numbers.number(of: state(1), before: 0, commits: 0)
    _ = numbers.number(of: state(5), before: 0, commits: 4)
    #expect(numbers.number(of: state(5), notBefore: 0) == exact(4))
    #expect(numbers.number(of: state(3), notBefore: 0) == inexact(1))
    #expect(numbers.number(of: state(3), notBefore: 2) == inexact(2))
  }

  @Test func `After a restart numbers go on`() {
    let numbers = CommitNumbers(startingAt: 40)
    #expect(numbers.number(of: state(1), before: 40, commits: 0) == exact(40))
    #expect(numbers.number(of: state(2), before: 40, commits: 1) == exact(41))
  }

  @Test func `A number that another state has already is not exact`() {
    let numbers = CommitNumbers()
    _ = numbers.number(of: state(1), before: 0, commits: 0)
    // After a doubt, fewer commits were counted than were made.
    #expect(numbers.number(of: state(9, generation: 2), before: 0, commits: 2) == exact(2))
    #expect(numbers.number(of: state(3), before: 0, commits: 2) == inexact(2))
    #expect(numbers.number(of: state(3), before: 0, commits: 2) == inexact(2))
    #expect(numbers.number(of: state(8, generation: 2), before: 2, commits: 1) == inexact(2))
    #expect(numbers.number(of: state(10, generation: 2), before: 2, commits: 1) == exact(3))
    #expect(numbers.number(of: state(9, generation: 2), before: 3, commits: 1) == inexact(3))
  }

  @Test func `Numbers that were forgotten are given to nobody`() {
    let numbers = CommitNumbers()
    for number in 0..<1_000 {
      _ = numbers.number(of: state(number + 1), before: Int64(max(0, number - 1)), commits: number > 0 ? 1 : 0)
    }
    #expect(numbers.number(of: state(1_000), before: 998, commits: 1) == exact(999))
    #expect(numbers.number(of: state(7, generation: 2), before: 4, commits: 2) == inexact(6))
  }

  @Test func `A file in the place of another one has numbers of its own`() {
    let numbers = CommitNumbers()
    _ = numbers.number(of: state(1), before: 0, commits: 0)
    _ = numbers.number(of: state(2), before: 0, commits: 1)
    numbers.forgetStates()
    #expect(numbers.number(of: state(1), before: 1, commits: 0) == exact(2))
    #expect(numbers.number(of: state(1), before: 0, commits: 0) == exact(2))
  }
}
