import TestSupport
import Testing

@testable import Following

/// Remembered commits, compared with sets of all of them.
@Suite struct KnownCommitsTests {
  @Test(arguments: [1, 2, 3, .random(in: 0 ... .max)] as [UInt64])
  func `What was seen is known, and nothing in between`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var seen = SeenCommits()
    var all: Set<Int64> = []
    var commit: Int64 = 0
    for _ in 0..<500 {
      commit += Int64.random(in: 0...3, using: &random)
      seen.add(commit)
      all.insert(commit)
    }
    for commit in -2...(commit + 2) { #expect(seen.contains(commit) == all.contains(commit), "seed \(seed)") }
    seen.removeAll()
    #expect(!seen.contains(commit))
  }

  @Test func `The oldest that were seen are forgotten, those that follow one another last`() {
    var seen = SeenCommits()
    for commit in 0..<200_000 { seen.add(Int64(commit)) }
    #expect(seen.contains(0) && seen.contains(199_999))
    for commit in 0..<40_000 { seen.add(300_000 + Int64(commit) * 2) }
    #expect(!seen.contains(0) && seen.contains(300_000 + 39_999 * 2) && !seen.contains(300_001))
  }

  /// A version is the result during spans of ticks, and also at single commits.
  @Test(arguments: [1, 2, 3, .random(in: 0 ... .max)] as [UInt64])
  func `A version is known where it was followed, and where it was noted`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var seen = SeenCommits()
    var known = KnownCommits()
    var expected: Set<Int64> = []
    var commit: Int64 = 0
    var isFollowed = false
    for _ in 0..<150 {
      let before = commit
      commit += Int64.random(in: 1...3, using: &random)
      let isExact = Int.random(in: 0..<5, using: &random) > 0
      if isFollowed, Int.random(in: 0..<4, using: &random) == 0 {
        known.end(at: before)
        isFollowed = false
      }
      if isExact { seen.add(commit) }
      if !isFollowed, Int.random(in: 0..<3, using: &random) == 0 {
        known.begin(at: isExact ? commit : commit + 1)
        isFollowed = true
      }
      if isFollowed, isExact { expected.insert(commit) }
      if Int.random(in: 0..<6, using: &random) == 0 {
        known.add(commit)
        expected.insert(commit)
      }
    }
    for commit in -2...(commit + 2) {
      #expect(known.contains(commit, seen) == expected.contains(commit), "\(commit), seed \(seed)")
    }
    if !isFollowed { #expect((known.last ?? 0) >= expected.max() ?? 0) }
  }

  @Test func `The oldest single commits are forgotten`() {
    var known = KnownCommits()
    for commit in 0..<20_000 { known.add(Int64(commit) * 2) }
    #expect(known.contains(39_998, SeenCommits()) && !known.contains(2, SeenCommits()))
    #expect(!known.contains(39_997, SeenCommits()))
  }
}
