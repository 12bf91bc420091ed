/// Lays numbers, texts and bytes end to end; `ByteReader` reads them.
///
/// Numbers take 7 bits a byte, the lowest first; texts and counted bytes follow their length.
///
/// Public, with its methods, so that they are inlined in other modules.
public struct ByteWriter {
  public var bytes: [UInt8] = []

  public init() {}

  public mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  @inlinable
  public mutating func add(byte: UInt8) { bytes.append(byte) }

  @inlinable
  public mutating func add(_ flag: Bool) { add(byte: flag ? 1 : 0) }

  @inlinable
  public mutating func add(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Takes few bytes for numbers close to zero, of either sign.
  @inlinable
  public mutating func add(_ number: Int64) { add(zigzag(number)) }

  /// - Precondition: the number is not negative.
  @inlinable
  public mutating func add(_ number: Int) { add(UInt64(number)) }

  @inlinable
  public mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(Bytes($0)) }
  }

  @inlinable
  public mutating func add(_ counted: Bytes) {
    add(counted.count)
    bytes.append(contentsOf: counted)
  }

  @inlinable
  public mutating func add(_ counted: [UInt8]) { counted.withUnsafeBytes { add($0) } }

  @inlinable
  public mutating func add(plain: some Sequence<UInt8>) { bytes.append(contentsOf: plain) }
}

/// Maps a signed number to an unsigned one that is small if the signed one is close to zero.
@inlinable @inline(__always)
public func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63) }

@inlinable @inline(__always)
public func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
