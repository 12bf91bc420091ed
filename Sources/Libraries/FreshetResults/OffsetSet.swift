/// Offsets of the rows that only one of two sequences has; both have the other rows in the same order. Pure.
///
/// Look-ups are O(log offsets).
struct OffsetSet: Sendable {
  private let ascending: [Int]

  init(_ offsets: some Sequence<Int> = []) { ascending = offsets.sorted() }

  func contains(_ offset: Int) -> Bool {
    let index = countBelow(offset)
    return index < ascending.count && ascending[index] == offset
  }

  /// How many common rows precede an offset.
  func rank(of offset: Int) -> Int { offset - countBelow(offset) }

  /// The offset of the common row with `rank` common rows before it.
  func offset(ofRank rank: Int) -> Int { rank + count { ascending[$0] - $0 <= rank } }

  private func countBelow(_ offset: Int) -> Int { count { ascending[$0] < offset } }

  /// The number of indexes that `holds` is true for. Precondition: they precede all others.
  private func count(where holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, ascending.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// How the offsets of shown rows and of the server's rows correspond.
struct OverlayOffsets: Sendable {
  /// The server's rows that are not shown, or shown at another position.
  var gone = OffsetSet()
  /// The shown rows that the server does not have, or has at another position.
  var placed = OffsetSet()

  /// Nil for a row in `gone`.
  func shown(_ offset: Int) -> Int? { gone.contains(offset) ? nil : placed.offset(ofRank: gone.rank(of: offset)) }

  /// How many of the server's rows precede those shown from an offset on.
  func base(_ offset: Int) -> Int { gone.offset(ofRank: placed.rank(of: offset)) }

  /// The server's rows that the window is to show. At least one row, unless only structure is wanted.
  func base(_ window: Range<Int>) -> Range<Int> {
    let first = base(window.lowerBound)
    return window.isEmpty ? first..<first : first..<max(first + 1, base(window.upperBound))
  }
}
