/// Hashes the contents of rows to 64 bits, in the manner of wyhash. The seed is random, so that an attacker cannot make
/// two rows with equal hashes, which would hide a change. Every process has a new seed, unless it starts from a kept
/// state (`CaptureState`).
package struct PayloadHasher: Sendable {
  private let seed: (UInt64, UInt64, UInt64, UInt64)

  package init(using generator: inout some RandomNumberGenerator) {
    // Odd, so that no multiplication loses bits.
    seed = (generator.next() | 1, generator.next() | 1, generator.next() | 1, generator.next() | 1)
  }

  package init() {
    var generator = SystemRandomNumberGenerator()
    self.init(using: &generator)
  }

  /// Continues with the seed of another process, so that its hashes stay valid.
  init(words: (UInt64, UInt64, UInt64, UInt64)) {
    seed = (words.0 | 1, words.1 | 1, words.2 | 1, words.3 | 1)
  }

  var words: (UInt64, UInt64, UInt64, UInt64) { seed }

  @inline(__always)
  private func mixed(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let (high, low) = first.multipliedFullWidth(by: second)
    return high ^ low
  }

  @inline(__always)
  private func load64(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  private func load32(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// - Parameter start: the hash of the preceding bytes in a chain, or anything that distinguishes equal bytes.
  @inline(__always)
  func hash(_ bytes: UnsafeRawPointer, _ count: Int, start: UInt64) -> UInt64 {
    var state = start ^ mixed(start ^ seed.0, seed.1)
    let first: UInt64
    let second: UInt64
    if count > 16 {
      var cursor = bytes
      var left = count
      if left > 48 {
        // The three products do not depend on each other, so the processor computes them at the same time.
        var (other, third) = (state, state)
        repeat {
          state = mixed(load64(cursor, 0) ^ seed.1, load64(cursor, 8) ^ state)
          other = mixed(load64(cursor, 16) ^ seed.2, load64(cursor, 24) ^ other)
          third = mixed(load64(cursor, 32) ^ seed.3, load64(cursor, 40) ^ third)
          cursor += 48
          left &-= 48
        } while left > 48
        state ^= other ^ third
      }
      while left > 16 {
        state = mixed(load64(cursor, 0) ^ seed.1, load64(cursor, 8) ^ state)
        cursor += 16
        left &-= 16
      }
      first = load64(cursor, left &- 16)
      second = load64(cursor, left &- 8)
    } else if count >= 4 {
      let middle = (count &>> 3) &<< 2
      first = load32(bytes, 0) &<< 32 | load32(bytes, middle)
      second = load32(bytes, count &- 4) &<< 32 | load32(bytes, count &- 4 &- middle)
    } else if count > 0 {
      first = UInt64(bytes.byte(0)) &<< 16 | UInt64(bytes.byte(count &>> 1)) &<< 8 | UInt64(bytes.byte(count &- 1))
      second = 0
    } else {
      first = 0
      second = 0
    }
    return mixed(seed.1 ^ UInt64(truncatingIfNeeded: count), mixed(first ^ seed.1, second ^ state))
  }
}
