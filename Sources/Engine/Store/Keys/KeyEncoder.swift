import Ground
package import LiveQuery
import RankedCollections

/// Encodes SQLite values as bytes that `memcmp` orders exactly as SQLite orders the values.
///
/// A field is prefix-free, so fields are laid end to end and compare one after the other; DESC inverts all its bytes.
///
///     NULL     0x10 (0xF0 when it comes last)
///     numbers  0b01…  one bit string: class (2 bits), the largest double not above the number in order-preserving form
///                     (64 bits), and what the number exceeds it by (10 bits; integers beyond 2^53 only). Cut after the
///                     last bit set into groups of seven, each followed by a bit that says whether another follows:
///                     small integers take four or five bytes, and an integer sorts among reals by its exact value.
///     text     0x80, the bytes under the collation, 0x00; the bytes 0x00 and 0x01 become 0x01 0x01 and 0x01 0x02
///     blob     0x90, the bytes as for text, 0x00
///
/// Text is given in the database's own encoding: BINARY compares the bytes of this encoding, UTF-8 or UTF-16.
package enum KeyEncoder {
  enum Tag {
    static let nullLow: UInt8 = 0x10
    static let nullHigh: UInt8 = 0xF0
    /// The class of numbers: two bits, at the top of the first byte.
    static let number: UInt8 = 0x40
    static let text: UInt8 = 0x80
    static let blob: UInt8 = 0x90
    static let end: UInt8 = 0x00
    static let escape: UInt8 = 0x01
  }

  /// Appends a value as a part of an identity. Text is stored in the database's encoding.
  package static func append(_ value: SQLValue, encoding: TextEncoding, to bytes: inout [UInt8]) {
    switch value {
    case .null: append(PackedValue.null, .identity, to: &bytes)
    case .integer(let value): append(PackedValue.integer(value), .identity, to: &bytes)
    case .real(let value): append(PackedValue.real(value), .identity, to: &bytes)
    case .text(let text): encoding.bytes(of: text).withUnsafeBytes { append(.text($0), .identity, to: &bytes) }
    case .blob(let blob): blob.withUnsafeBytes { append(.blob($0), .identity, to: &bytes) }
    }
  }

  package static func append(_ value: PackedValue, _ order: FieldOrder, to bytes: inout [UInt8]) {
    let start = bytes.count
    switch value {
    case .null: bytes.append(order.isNullHigh ? Tag.nullHigh : Tag.nullLow)
    case .integer(let value): append(value, to: &bytes)
    case .real(let value): appendNumber(value, exceededBy: 0, to: &bytes)
    case .text(let text): append(text: text, order.collation, to: &bytes)
    case .blob(let blob):
      bytes.append(Tag.blob)
      appendEscaped(blob, to: &bytes)
      bytes.append(Tag.end)
    }
    if order.isDescending {
      for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }
  }

  private static func append(_ value: Int64, to bytes: inout [UInt8]) {
    var floor = Double(value)
    // The conversion may have rounded up. 2^63 itself is greater than every integer.
    if floor >= 0x1p63 || Int64(floor) > value { floor = floor.nextDown }
    appendNumber(floor, exceededBy: UInt64(value &- Int64(floor)), to: &bytes)
  }

  private static func appendNumber(_ value: Double, exceededBy excess: UInt64, to bytes: inout [UInt8]) {
    // -0.0 equals 0.0, so both must be encoded the same.
    let pattern = (value == 0 ? 0.0 : value).bitPattern
    let ordered = pattern >> 63 == 1 ? ~pattern : pattern | 1 << 63
    // The class byte has the first five bits; the other 59 and the excess are at the top of a word.
    var rest = UInt128(ordered << 5) << 64 | UInt128(excess) << 59
    bytes.append(Tag.number | UInt8(truncatingIfNeeded: ordered >> 59) << 1 | (rest != 0 ? 1 : 0))
    while rest != 0 {
      let group = UInt8(truncatingIfNeeded: rest >> 121)
      rest <<= 7
      bytes.append(group << 1 | (rest != 0 ? 1 : 0))
    }
  }

  private static func append(text: Bytes, _ collation: FieldOrder.Collation, to bytes: inout [UInt8]) {
    bytes.append(Tag.text)
    switch collation {
    case .binary: appendEscaped(text, to: &bytes)
    case .rtrim:
      var end = text.count
      while end > 0, text[end - 1] == 0x20 { end -= 1 }
      appendEscaped(Bytes(rebasing: text[..<end]), to: &bytes)
    case .nocase: appendFolded(text, to: &bytes)
    }
    bytes.append(Tag.end)
  }

  private static func appendEscaped(_ content: Bytes, to bytes: inout [UInt8]) {
    guard needsEscape(content) else {
      bytes.append(contentsOf: content)
      return
    }
    for byte in content { appendEscaped(byte, to: &bytes) }
  }

  /// Whether a byte is 0 or 1. Checks eight bytes at a time.
  private static func needsEscape(_ content: Bytes) -> Bool {
    let (twos, tops) = (0x0202_0202_0202_0202 as UInt64, 0x8080_8080_8080_8080 as UInt64)
    var position = 0
    while position + 8 <= content.count {
      let word = content.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      if (word &- twos) & ~word & tops != 0 { return true }
      position += 8
    }
    return content[position...].contains { $0 <= Tag.escape }
  }

  @inline(__always)
  private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
    if byte <= Tag.escape {
      bytes.append(Tag.escape)
      bytes.append(byte + 1)
    } else {
      bytes.append(byte)
    }
  }

  /// NOCASE folds only A–Z. It compares texts up to the first NUL that both have at the same place, and then their
  /// lengths.
  private static func appendFolded(_ text: Bytes, to bytes: inout [UInt8]) {
    for byte in text {
      if byte == 0 {
        appendEscaped(byte, to: &bytes)
        for shift in [24, 16, 8, 0] { appendEscaped(UInt8(truncatingIfNeeded: text.count >> shift), to: &bytes) }
        return
      }
      appendEscaped(byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte, to: &bytes)
    }
  }

  /// A text that equals, under NOCASE, the text that `appendFolded` encoded as these bytes.
  static func unfolded(_ text: [UInt8]) -> [UInt8] {
    guard let end = text.firstIndex(of: 0) else { return text }
    let count = text[(end + 1)...].reduce(0) { $0 << 8 | Int($1) }
    return text[..<end] + [UInt8](repeating: 0, count: count - end)
  }
}
