/// Offsets of rows that only one of two sequences has; the other rows are in both, in the same order. Pure.
///
/// Look-ups are O(log offsets).
struct OffsetSet: Sendable {
  private let ascending: [Int]

  init(_ offsets: some Sequence<Int> = []) { ascending = offsets.sorted() }

  func contains(_ offset: Int) -> Bool {
    let index = countBelow(offset)
    return index < ascending.count && ascending[index] == offset
  }

  /// How many rows that both have are before an offset.
  func rank(of offset: Int) -> Int { offset - countBelow(offset) }

  /// Where the row is that has so many rows of both before it.
  func offset(ofRank rank: Int) -> Int { rank + count { ascending[$0] - $0 <= rank } }

  private func countBelow(_ offset: Int) -> Int { count { ascending[$0] < offset } }

  /// Of indexes from 0: for those it holds, and for none after them.
  private func count(where holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, ascending.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// How offsets of the rows that are shown and of those that the server has belong together.
struct OverlayOffsets: Sendable {
  /// Of the server's rows: those that are not shown, or not where they are there.
  var gone = OffsetSet()
  /// Of the rows that are shown: those that are not there on the server, or elsewhere.
  var placed = OffsetSet()

  /// Nil for a row that is in `gone`.
  func shown(_ offset: Int) -> Int? { gone.contains(offset) ? nil : placed.offset(ofRank: gone.rank(of: offset)) }

  /// How many of the server's rows come before those that are shown from an offset on.
  func base(_ offset: Int) -> Int { gone.offset(ofRank: placed.rank(of: offset)) }

  /// The server's rows that have what is to be shown. One row at the least, unless structure alone is wanted.
  func base(_ window: Range<Int>) -> Range<Int> {
    let first = base(window.lowerBound)
    return window.isEmpty ? first..<first : first..<max(first + 1, base(window.upperBound))
  }
}
