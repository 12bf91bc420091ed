package import Ground

/// One row of a ranked tree as packed bytes: `order | identity | trailer`.
///
/// `order` is the encoded sort values; `identity` is the encoded key, which both breaks ties and names the row. The
/// trailer is the length of the identity, so that the identity can be found from the end: one byte for lengths below
/// 255, otherwise the length as four bytes and then 255. Encoded values are prefix-free, so no two rows differ in the
/// trailer alone, and it never decides an order.
package struct RankedEntry {
  package private(set) var bytes: [UInt8] = []
  private var identityStart = 0

  package init() {}

  /// Empties the entry, keeping its buffer. Call this first, then `appendOrder`, `startIdentity`, `appendIdentity` and
  /// `finish`.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Appends bytes to the part that is being built.
  @inline(__always)
  package mutating func append(_ body: (inout [UInt8]) -> Void) { body(&bytes) }

  package mutating func startIdentity() { identityStart = bytes.count }

  package mutating func finish() {
    let length = bytes.count - identityStart
    if length < 255 {
      bytes.append(UInt8(length))
    } else {
      for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
      bytes.append(255)
    }
  }

  /// The identity of a finished entry.
  @inline(__always)
  package static func identity(of entry: Bytes) -> Bytes {
    let last = entry[entry.count - 1]
    if last < 255 {
      let end = entry.count - 1
      return Bytes(rebasing: entry[end - Int(last)..<end])
    }
    let end = entry.count - 5
    let length = entry[end..<end + 4].reduce(0) { $0 << 8 | Int($1) }
    return Bytes(rebasing: entry[end - length..<end])
  }
}
