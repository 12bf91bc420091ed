import Foundation
import Testing

@testable import ChangeCapture
@testable import Lists

/// The trail of ticks and of lists, for the log line of a divergence.
@Suite struct TrailTests {
  private func tick(_ tables: [Int]) -> CapturedTick {
    var tick = CapturedTick()
    tick.commits = 1
    tick.deltas = tables.map { number in
      let delta = ChangedRows()
      delta.isUnknown = number == 0
      return (number, delta)
    }
    return tick
  }

  @Test func `The last sixteen ticks are kept, with eight tables each`() {
    var trail = TickTrail()
    #expect(trail.description { _ in nil }.isEmpty)
    for commit in 1...20 {
      trail.note(tick(Array(0..<(commit == 20 ? 10 : commit % 3))), StateName(state: .unknown), commit: Int64(commit))
    }
    let lines = trail.description { $0 == 1 ? "wells" : nil }.components(separatedBy: "; ")
    #expect(lines.count == 16 && lines[0] == "5 at no state, 1 commits: unknown of table 0, 0 of wells")
    #expect(lines[1] == "6 at no state, 1 commits: no rows")
    #expect(
      lines[15].hasSuffix(
        "unknown of table 0, 0 of wells, \((2...7).map { "0 of table \($0)" }.joined(separator: ", ")), 2 more tables"))
  }

  @Test func `Quiet ticks are none`() {
    var trail = TickTrail()
    trail.note(CapturedTick(), StateName(state: .unknown), commit: 1)
    #expect(trail.description { _ in nil }.isEmpty)
  }

  @Test(arguments: [0, 200, 1 << 40, -3]) func `The last eight updates of a list are kept, whatever the numbers`(
    _ first: Int
  ) {
    var trail = ListTrail()
    #expect(trail.description(commit: 5, version: 1) == "none since it was opened")
    for number in 1...100 {
      trail.note(
        number % 2 == 0 ? .looked : .ran, units: number % 2 == 0 ? 1_000 * number : nil, commit: Int64(first + number),
        version: number * 3 / 2)
    }
    let updates = trail.description(commit: Int64(first + 90), version: 150).components(separatedBy: "; ")
    #expect(updates.count == 8 && updates[0] == "run again: version 139 at \(first + 93)")
    #expect(updates[7] == "65534 or more units looked up: version 150 at \(first + 100)")
  }
}
