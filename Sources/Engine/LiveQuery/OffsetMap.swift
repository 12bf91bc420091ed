/// How offsets of the rows that no list of a patch names carry over from the old version to the new.
///
/// Those rows keep their order, so the k-th of them before is the k-th of them after. `gone` and `come` are the ranges
/// of offsets that have no such row: rows deleted, moved or in deleted sections, by old offset; rows inserted, moved or
/// in inserted sections, by new offset. All questions take O(log changes).
struct OffsetMap {
  /// Ranges of offsets, ascending, with the number of offsets in those before each.
  struct Gaps {
    private(set) var ranges: [Range<Int>] = []
    private var before: [Int] = []

    init(_ unsorted: [Range<Int>]) {
      ranges = unsorted.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
      var sum = 0
      for range in ranges {
        before.append(sum)
        sum += range.count
      }
    }

    /// How many of the offsets below `offset` are in a gap.
    func count(below offset: Int) -> Int {
      let index = firstIndex { ranges[$0].lowerBound >= offset }
      guard index > 0 else { return 0 }
      return before[index - 1] + min(offset, ranges[index - 1].upperBound) - ranges[index - 1].lowerBound
    }

    /// The offset of the k-th row that is in no gap.
    func offset(ofKept rank: Int) -> Int {
      // Gaps that begin at or before the row: those with at most `rank` kept rows in front.
      let index = firstIndex { ranges[$0].lowerBound - before[$0] > rank }
      guard index > 0 else { return rank }
      return rank + before[index - 1] + ranges[index - 1].count
    }

    private func firstIndex(where isTrue: (Int) -> Bool) -> Int {
      var low = 0
      var high = ranges.count
      while low < high {
        let middle = (low + high) / 2
        if isTrue(middle) { high = middle } else { low = middle + 1 }
      }
      return low
    }
  }

  var gone: Gaps
  var come: Gaps

  /// The ranks, among kept rows, of those at old offsets `range`.
  func kept(old range: Range<Int>) -> Range<Int> {
    let start = range.lowerBound - gone.count(below: range.lowerBound)
    return start..<max(start, range.upperBound - gone.count(below: range.upperBound))
  }

  /// The ranks, among kept rows, of those at new offsets `range`.
  func kept(new range: Range<Int>) -> Range<Int> {
    let start = range.lowerBound - come.count(below: range.lowerBound)
    return start..<max(start, range.upperBound - come.count(below: range.upperBound))
  }

  /// The new offset of the kept row with this rank.
  func newOffset(ofKept rank: Int) -> Int { come.offset(ofKept: rank) }
}
