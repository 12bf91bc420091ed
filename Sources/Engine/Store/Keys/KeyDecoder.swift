package import Ground
import LiveQuery
import RankedCollections

/// Decodes encoded keys, so that they can be bound to statements that look rows up.
///
/// A decoded value is equal to the encoded one under its collation, but may differ from it: 1.0 is decoded as 1, and
/// text under NOCASE in lower case. Only ascending fields can be decoded.
package struct KeyDecoder {
  private let bytes: Bytes
  private var position = 0

  package init(_ bytes: Bytes) { self.bytes = bytes }

  package var isAtEnd: Bool { position >= bytes.count }

  package enum Field {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])
  }

  /// - Parameter order: the order with which the field was encoded.
  package mutating func next(_ order: FieldOrder = .identity) -> Field {
    let tag = bytes[position]
    if tag & 0xC0 == KeyEncoder.Tag.number { return number() }
    position += 1
    switch tag {
    case KeyEncoder.Tag.text: return .text(order.collation == .nocase ? KeyEncoder.unfolded(content()) : content())
    case KeyEncoder.Tag.blob: return .blob(content())
    default: return .null
    }
  }

  /// The values of a key, separated by commas, for people to read.
  package static func describe(_ key: Bytes) -> String {
    var decoder = KeyDecoder(key)
    var parts: [String] = []
    while !decoder.isAtEnd {
      switch decoder.next() {
      case .null: parts.append("NULL")
      case .integer(let value): parts.append(String(value))
      case .real(let value): parts.append(value.description)
      case .text(let bytes): parts.append("'\(String(decoding: bytes.prefix(60), as: UTF8.self))'")
      case .blob(let bytes): parts.append("a blob of \(bytes.count) bytes")
      }
    }
    return parts.joined(separator: ", ")
  }

  private mutating func number() -> Field {
    var ordered = UInt64(bytes[position] >> 1 & 31) << 59
    var rest: UInt128 = 0
    var shift: UInt128 = 121
    while bytes[position] & 1 == 1 {
      position += 1
      rest |= UInt128(bytes[position] >> 1) << shift
      shift -= 7
    }
    position += 1
    ordered |= UInt64(truncatingIfNeeded: rest >> 64) >> 5
    let excess = Int64(truncatingIfNeeded: rest >> 59 & 1023)
    let floor = Double(bitPattern: ordered >> 63 == 1 ? ordered & ~(1 << 63) : ~ordered)
    if let integer = Int64(exactly: floor) { return .integer(integer + excess) }
    return .real(floor)
  }

  private mutating func content() -> [UInt8] {
    var result: [UInt8] = []
    while bytes[position] != KeyEncoder.Tag.end {
      if bytes[position] == KeyEncoder.Tag.escape {
        result.append(bytes[position + 1] - 1)
        position += 2
      } else {
        result.append(bytes[position])
        position += 1
      }
    }
    position += 1
    return result
  }
}
