import TestSupport
import Testing

@testable import FreshetResults

/// The sequence, compared with an array.
struct RowSequenceTests {
  @Test(arguments: [0, 1, 255, 256, 257, 511, 512, 513, 2_000])
  func `It has the elements it was made of`(count: Int) {
    let sequence = RowSequence(0..<count)
    #expect(sequence.count == count)
    #expect(Array(sequence) == Array(0..<count))
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `It does what an array does, and its copies stay`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var sequence = RowSequence<Int>()
    var array: [Int] = []
    var copies: [(RowSequence<Int>, [Int])] = []
    for step in 0..<6_000 {
      // Grows to about two thousand, then shrinks to nothing.
      let grows = Int.random(in: 0..<100, using: &generator) < (step < 3_500 ? 75 : 15)
      if grows || array.isEmpty {
        let place = Int.random(in: 0...array.count, using: &generator)
        sequence.insert(step, at: place)
        array.insert(step, at: place)
      } else {
        let place = Int.random(in: 0..<array.count, using: &generator)
        if Int.random(in: 0..<4, using: &generator) == 0 {
          sequence[place] = -step
          array[place] = -step
        } else {
          #expect(sequence.remove(at: place) == array.remove(at: place))
        }
      }
      if step % 500 == 0 { copies.append((sequence, array)) }
    }
    #expect(Array(sequence) == array && sequence.count == array.count)
    for (copy, original) in copies { #expect(Array(copy) == original) }
  }
}
