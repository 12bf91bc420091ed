import Testing

@testable import ChangeCapture
@testable import Lists

/// Changes of aggregates while their query runs: changes that the run has seen must not be added to its groups again.
@Suite struct GroupLogTests {
  private func step(_ frames: Int, isKnown: Bool = true) -> GroupStep {
    GroupStep(state: .wal(frames: frames), changes: isKnown ? [] : [nil])
  }

  @Test func `Changes before the state that a run saw are left out`() {
    var log = GroupLog(from: .wal(frames: 1))
    log.append([step(2), step(3)])
    log.append([step(4)])
    for (frames, count) in [(1, 3), (2, 2), (3, 1), (4, 0)] {
      #expect(log.changes(after: .wal(frames: frames))?.count == count, "\(frames)")
    }
    #expect(log.changes(after: .wal(frames: 5)) == nil)
    #expect(log.changes(after: .wal(frames: 3, generation: 2)) == nil)
  }

  @Test func `Changes that are not known matter only after that state`() {
    var log = GroupLog(from: .wal(frames: 1))
    log.append([step(2, isKnown: false), step(3)])
    #expect(log.changes(after: .wal(frames: 1)) == nil)
    #expect(log.changes(after: .wal(frames: 2))?.count == 1)
  }
}
