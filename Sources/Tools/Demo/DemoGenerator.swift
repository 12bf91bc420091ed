/// Random numbers that a seed determines, on every platform and in every version of Swift (SplitMix64). The standard
/// library's `random(in:using:)` may change between versions; this generator does not, so that one seed gives the same
/// database everywhere.
package struct DemoGenerator: Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to, not including, `bound`, which is 1 or more.
  package mutating func number(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number in `range`, both ends included.
  package mutating func number(in range: ClosedRange<Int>) -> Int {
    range.lowerBound + number(below: range.count)
  }

  /// True `percent` times in a hundred.
  package mutating func chance(percent: Int) -> Bool { number(below: 100) < percent }

  /// An element of a list that is not empty.
  package mutating func element<Element>(of list: [Element]) -> Element { list[number(below: list.count)] }
}
