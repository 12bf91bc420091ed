/// Maps old offsets to new ones, for rows that are in no list of a patch.
///
/// These rows keep their order, so the k-th of them before is the k-th of them after. All other rows are in gaps:
/// `gone` has the old offsets of rows that were deleted, moved or in deleted sections; `come` has the new offsets of
/// rows that were inserted, moved or in inserted sections. All functions take O(log changes).
struct OffsetMap {
  /// Ranges of offsets, ascending, and for each the number of offsets in the ranges before it.
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

    /// The number of offsets below `offset` that are in a gap.
    func count(below offset: Int) -> Int {
      let index = firstIndex { ranges[$0].lowerBound >= offset }
      guard index > 0 else { return 0 }
      return before[index - 1] + min(offset, ranges[index - 1].upperBound) - ranges[index - 1].lowerBound
    }

    /// The offset of the k-th row that is not in a gap.
    func offset(ofKept rank: Int) -> Int {
      // The gaps before the row are those with at most `rank` kept rows before them.
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

  /// The ranks of the kept rows with old offsets in `range`.
  func kept(old range: Range<Int>) -> Range<Int> {
    let start = range.lowerBound - gone.count(below: range.lowerBound)
    return start..<max(start, range.upperBound - gone.count(below: range.upperBound))
  }

  /// The ranks of the kept rows with new offsets in `range`.
  func kept(new range: Range<Int>) -> Range<Int> {
    let start = range.lowerBound - come.count(below: range.lowerBound)
    return start..<max(start, range.upperBound - come.count(below: range.upperBound))
  }

  /// The new offset of the kept row with this rank.
  func newOffset(ofKept rank: Int) -> Int { come.offset(ofKept: rank) }
}
