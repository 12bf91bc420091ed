import RankedCollections

/// Tells, of the rows that a difference removes and inserts, which are the same row: moved, or where it was.
///
/// Only sections that both versions have take part: what leaves a deleted section, or enters an inserted one, is a
/// deletion or an insertion (UIKit forbids such moves).
struct Matching {
  /// One row on both sides.
  struct Pair {
    var old: SectionedTree.Row
    var new: SectionedTree.Row
    var isContentChanged: Bool { old.stamp != new.stamp }
  }

  var deleted: [SectionedTree.Row] = []
  var inserted: [SectionedTree.Row] = []
  /// Pairs that have to change their place.
  var moved: [Pair] = []
  /// Pairs that stand between the same rows as before: nothing, or an update.
  var kept: [Pair] = []

  /// A removed or inserted row in its place: which section's difference, which position in that list.
  private struct Slot {
    var common: Int
    var position: Int
  }

  init(_ difference: SectionedDifference) {
    var removedByIdentity = Matching.removedRows(difference)
    var staying: [Int: [(removed: Int, inserted: Int)]] = [:]
    for (index, common) in difference.common.enumerated() {
      for (position, row) in common.inserted.enumerated() {
        guard let slot = removedByIdentity.removeValue(forKey: row.withIdentity { Array($0) }) else {
          inserted.append(row)
          continue
        }
        if slot.common == index {
          staying[index, default: []].append((slot.position, position))
        } else {
          moved.append(Pair(old: difference.common[slot.common].removed[slot.position], new: row))
        }
      }
    }
    deleted = removedByIdentity.values.map { difference.common[$0.common].removed[$0.position] }
    for (index, pairs) in staying { settle(pairs, in: difference.common[index]) }
  }

  private static func removedRows(_ difference: SectionedDifference) -> [[UInt8]: Slot] {
    var result: [[UInt8]: Slot] = [:]
    // Without insertions nothing can have moved, but every removed row is still to be listed.
    for (index, common) in difference.common.enumerated() {
      for (position, row) in common.removed.enumerated() {
        result[row.withIdentity { Array($0) }] = Slot(common: index, position: position)
      }
    }
    return result
  }

  /// Divides the pairs of one section into kept and moved ones, keeping as many as possible.
  ///
  /// Rows that did not change are fixed points, in the same order on both sides. A pair may stay when it stands in the
  /// same gap between fixed points as before; of those in one gap, a longest run in unchanged order stays.
  private mutating func settle(_ pairs: [(removed: Int, inserted: Int)], in common: SectionedDifference.Common) {
    var gaps: [Int: [(removed: Int, inserted: Int)]] = [:]
    for pair in pairs {
      // Fixed rows before: all rows before, less the changed ones among them.
      let oldGap = common.removed[pair.removed].item - pair.removed
      let newGap = common.inserted[pair.inserted].item - pair.inserted
      if oldGap == newGap {
        gaps[oldGap, default: []].append(pair)
      } else {
        moved.append(Pair(old: common.removed[pair.removed], new: common.inserted[pair.inserted]))
      }
    }
    for var gap in gaps.values {
      gap.sort { $0.removed < $1.removed }
      let stays = longestIncreasingRun(gap.map(\.inserted))
      for (position, pair) in gap.enumerated() {
        let pair = Pair(old: common.removed[pair.removed], new: common.inserted[pair.inserted])
        if stays.contains(position) { kept.append(pair) } else { moved.append(pair) }
      }
    }
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
