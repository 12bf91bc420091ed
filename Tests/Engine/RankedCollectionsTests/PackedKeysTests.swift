import TestSupport
import Testing

@testable import RankedCollections

/// Arrays of byte strings in one buffer, and their numbering, compared with plain arrays.
@Suite struct PackedKeysTests {
  @Test(arguments: 0..<20) func `They do what an array of keys does`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var keys = PackedKeys()
    var plain: [[UInt8]] = []
    for _ in 0..<200 {
      let key = (0..<Int.random(in: 0...5, using: &generator)).map { _ in UInt8.random(in: 0...3, using: &generator) }
      switch Int.random(in: 0..<5, using: &generator) {
      case 0, 1:
        let index = Int.random(in: 0...plain.count, using: &generator)
        key.withUnsafeBytes { keys.insert($0, at: index) }
        plain.insert(key, at: index)
      case 2 where !plain.isEmpty:
        let index = Int.random(in: 0..<plain.count, using: &generator)
        keys.remove(at: index)
        plain.remove(at: index)
      case 3 where !plain.isEmpty && plain.count < 40:
        let start = Int.random(in: 0..<plain.count, using: &generator)
        let end = Int.random(in: start + 1...plain.count, using: &generator)
        let other = keys
        keys.append(other, start..<end)
        plain += plain[start..<end]
      default:
        key.withUnsafeBytes { keys.append($0) }
        plain.append(key)
      }
      #expect((0..<keys.count).map { keys.withKey($0) { Array($0) } } == plain)
      #expect(keys.byteCount == plain.reduce(0) { $0 + $1.count })
    }
  }

  @Test func `Buffers are shared until a key comes`() {
    var keys = PackedKeys()
    [UInt8(1), 2].withUnsafeBytes { keys.append($0) }
    var copy = keys
    #expect(copy.sharesBuffers(with: keys))
    [UInt8(3)].withUnsafeBytes { copy.insert($0, at: 1) }
    #expect(!copy.sharesBuffers(with: keys))
  }

  @Test func `Numbers begin anew after all are forgotten`() {
    var numbers = IdentityNumbers()
    for _ in 0..<2 {
      for value in 0..<UInt8(20) {
        let (number, isNew) = [value].withUnsafeBytes { numbers.insert($0) }
        #expect(number == Int(value) && isNew)
      }
      #expect([UInt8(7)].withUnsafeBytes { numbers.number(of: $0) } == 7)
      numbers.removeAll()
      #expect(numbers.isEmpty)
      #expect([UInt8(7)].withUnsafeBytes { numbers.number(of: $0) } == nil)
    }
  }
}
