/// Picks indexes with given weights, by binary search in their running sums: O(log n).
struct WeightedChoice: Sendable {
  private let sums: [Int]

  /// - Parameter weights: at least one, each 1 or more.
  init(_ weights: [Int]) {
    var sum = 0
    sums = weights.map { weight in
      sum += weight
      return sum
    }
  }

  func index(_ generator: inout DemoGenerator) -> Int {
    let ticket = generator.number(below: sums[sums.count - 1])
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > ticket { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
