/// A borrowed run of bytes: one packed key, or a part of one. Valid only as long as its owner.
///
/// Public, with its methods, so that they are inlined in other modules.
public typealias Bytes = UnsafeRawBufferPointer

extension Bytes {
  /// Compares bytes as unsigned numbers; a prefix comes first. The result is negative, zero or positive.
  @inlinable @inline(__always)
  public func compare(_ other: Bytes) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0, let left = baseAddress, let right = other.baseAddress {
      let order = memcmp(left, right, common)
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }

  @inlinable @inline(__always)
  public func equals(_ other: Bytes) -> Bool {
    guard count == other.count else { return false }
    guard count > 0, let left = baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, count) == 0
  }

  /// Eight bytes from `start` on as a number that compares as they do; missing bytes are zeros.
  @inlinable @inline(__always)
  public func word(at start: Int) -> UInt64 {
    if count >= start + 8 { return UInt64(bigEndian: loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
    var result: UInt64 = 0
    for index in start..<start + 8 { result = result << 8 | (index < count ? UInt64(self[index]) : 0) }
    return result
  }

  /// A 64-bit hash, the same for the same bytes and seed on every machine.
  ///
  /// Eight bytes a step, each folded in by a full 64×64→128-bit multiplication (the mixing step of wyhash); good enough
  /// that two different rows agree once in 2^64.
  @inlinable
  public func hash(seed: UInt64) -> UInt64 {
    var state = seed ^ 0xA076_1D64_78BD_642F
    var position = 0
    while position + 8 <= count {
      let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: position, as: UInt64.self))
      state = Bytes.mix(state ^ word, 0xE703_7ED1_A0B4_28DB)
      position += 8
    }
    // The remaining bytes, read in as few loads as possible; bytes that overlap are hashed twice, which does no harm.
    var tail: UInt64 = 0
    if position < count {
      if count >= 8 {
        tail = UInt64(littleEndian: loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
      } else if count >= 4 {
        let first = UInt32(littleEndian: loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        let last = UInt32(littleEndian: loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        tail = UInt64(first) << 32 | UInt64(last)
      } else {
        tail = UInt64(self[0]) << 16 | UInt64(self[count / 2]) << 8 | UInt64(self[count - 1])
      }
    }
    return Bytes.mix(state ^ tail, 0x8EBC_6AF0_9C88_C6E3 ^ UInt64(truncatingIfNeeded: count))
  }

  @inlinable @inline(__always)
  public static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}

extension UInt8 {
  /// Whether this is a letter or a digit of ASCII, - or _: names in addresses, headers and subjects have these as they
  /// are.
  package var isNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
