import RankedCollections

/// Pairs the rows that a difference removes with those that it inserts. Rows with the same identity are moved, or stay.
///
/// Rows whose entry did not change are fixed points. A pair stays if it is in the same gap between fixed points as
/// before, and belongs to a longest run in unchanged order. All other pairs move. These are the fewest operations that
/// protocol 3.3 permits; tests compare them with a plain quadratic search.
///
/// Only rows of sections that both versions have are paired. A row that leaves a deleted section is a deletion, and one
/// that enters an inserted section an insertion (UIKit forbids such moves).
struct Matching {
  typealias Pair = SectionedDifference.Pair

  /// By old place, ascending.
  private(set) var deleted: [SectionedTree.Row] = []
  /// By new place, ascending.
  private(set) var inserted: [SectionedTree.Row] = []
  /// Pairs that have to change their place.
  private(set) var moved: [Pair] = []
  /// Pairs that are between the same rows as before. They need no operation, or an update.
  private(set) var kept: [Pair] = []

  /// Rows that a section has on both sides: their positions among the section's removed and inserted rows.
  private typealias Staying = (gap: Int, removed: Int, inserted: Int)

  init(_ difference: SectionedDifference) {
    // Without removals no row can have moved.
    if difference.common.allSatisfy({ $0.removed.isEmpty }) {
      for common in difference.common where !common.inserted.isEmpty { inserted += common.inserted }
      return
    }
    var removed = RemovedRows(difference)
    var staying: [Staying] = []
    for (index, common) in difference.common.enumerated() {
      for (position, row) in common.inserted.enumerated() {
        guard let place = removed.take(row) else {
          inserted.append(row)
          continue
        }
        let old = difference.common[place.common].removed[place.position]
        // The number of fixed rows before this one: all rows before it, without the changed ones.
        let gap = old.item - place.position
        if place.common == index, gap == row.item - position {
          staying.append((gap, place.position, position))
        } else {
          moved.append(Pair(old: old, new: row))
        }
      }
      settle(&staying, in: common)
      staying.removeAll(keepingCapacity: true)
    }
    deleted = removed.rest
  }

  /// Divides the pairs of one section into kept and moved ones, keeping as many as possible.
  ///
  /// Rows that did not change are fixed points, in the same order on both sides. A pair may stay if it is in the same
  /// gap between fixed points as before. A longest run in unchanged order stays in each gap.
  private mutating func settle(_ pairs: inout [Staying], in common: SectionedDifference.Common) {
    if pairs.count > 1 { pairs.sort { ($0.gap, $0.removed) < ($1.gap, $1.removed) } }
    var start = 0
    while start < pairs.count {
      var end = start + 1
      while end < pairs.count, pairs[end].gap == pairs[start].gap { end += 1 }
      let isAlone = end == start + 1
      let stays = isAlone ? [] : longestIncreasingRun(pairs[start..<end].map(\.inserted))
      for index in start..<end {
        let pair = Pair(old: common.removed[pairs[index].removed], new: common.inserted[pairs[index].inserted])
        if isAlone || stays.contains(index - start) { kept.append(pair) } else { moved.append(pair) }
      }
      start = end
    }
  }
}

/// The rows that a difference removes from sections that both versions have, by identity.
private struct RemovedRows {
  private let difference: SectionedDifference
  /// The index of the section's difference in `common`, and the row's position in its list.
  private var places: [(common: Int, position: Int, isTaken: Bool)] = []
  /// Numbers the rows in `places`; nil while there are so few that a linear search is faster.
  private var numbers: IdentityNumbers?

  #if DEBUG
    private static let few = 2
  #else
    private static let few = 4
  #endif

  init(_ difference: SectionedDifference) {
    self.difference = difference
    let count = difference.common.reduce(0) { $0 + $1.removed.count }
    places.reserveCapacity(count)
    for (index, common) in difference.common.enumerated() {
      for position in common.removed.indices { places.append((index, position, false)) }
    }
    if count <= Self.few { return }
    var numbers = IdentityNumbers(reserving: count)
    for common in difference.common { for row in common.removed { _ = numbers.insert(row) } }
    self.numbers = numbers
  }

  mutating func take(_ row: SectionedTree.Row) -> (common: Int, position: Int)? {
    guard let number = number(of: row) else { return nil }
    places[number].isTaken = true
    return (places[number].common, places[number].position)
  }

  private func number(of row: SectionedTree.Row) -> Int? {
    if let numbers { return numbers.number(of: row) }
    return places.firstIndex { difference.common[$0.common].removed[$0.position].hasSameIdentity(as: row) }
  }

  /// The rows that are left, in their order.
  var rest: [SectionedTree.Row] {
    var rows: [SectionedTree.Row] = []
    for place in places where !place.isTaken { rows.append(difference.common[place.common].removed[place.position]) }
    return rows
  }
}

/// The positions of a longest strictly increasing subsequence. O(n log n).
package func longestIncreasingRun(_ values: [Int]) -> Set<Int> {
  // tails[k]: the position with the least value that ends an increasing run of k + 1 values.
  var tails: [Int] = []
  var previous = [Int](repeating: -1, count: values.count)
  for (position, value) in values.enumerated() {
    var low = 0
    var high = tails.count
    while low < high {
      let middle = (low + high) / 2
      if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
    }
    if low > 0 { previous[position] = tails[low - 1] }
    if low == tails.count { tails.append(position) } else { tails[low] = position }
  }
  var result: Set<Int> = []
  var position = tails.last ?? -1
  while position >= 0 {
    result.insert(position)
    position = previous[position]
  }
  return result
}
