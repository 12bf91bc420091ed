internal import CGateway
import Ground

/// An IPv6 address, or an IPv4 one as IPv6 has it: `::ffff:a.b.c.d`.
package struct IPAddress: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  /// Whether it is one of IPv4.
  var isFour: Bool { high == 0 && low >> 32 == 0xFFFF }

  /// - Returns: nil if it is not an address.
  package init?(_ text: some StringProtocol) {
    let isSix = text.contains(":")
    var bytes = [UInt8](repeating: 0, count: 16)
    guard inet_pton(isSix ? AF_INET6 : AF_INET, String(text), &bytes) == 1 else { return nil }
    let number = { (part: ArraySlice<UInt8>) in part.reduce(0) { $0 << 8 | UInt64($1) } }
    (high, low) = isSix ? (number(bytes[..<8]), number(bytes[8...])) : (0, 0xFFFF << 32 | number(bytes[..<4]))
  }

  init(_ address: gateway_address) {
    (high, low) = withUnsafeBytes(of: address.bytes) {
      (
        UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// As text, IPv4 as IPv4.
  var text: String {
    var bytes = address.bytes
    let capacity = Int(INET6_ADDRSTRLEN)
    return withUnsafeBytes(of: &bytes) { bytes in
      String(unsafeUninitializedCapacity: capacity) { buffer in
        let room = UnsafeMutableRawPointer(buffer.baseAddress!).assumingMemoryBound(to: CChar.self)
        let number = isFour ? bytes.baseAddress! + 12 : bytes.baseAddress!
        guard inet_ntop(isFour ? AF_INET : AF_INET6, number, room, socklen_t(capacity)) != nil else { return 0 }
        return strlen(room)
      }
    }
  }

  /// As C has it.
  var address: gateway_address {
    var address = gateway_address()
    withUnsafeMutableBytes(of: &address.bytes) {
      $0.storeBytes(of: high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return address
  }
}
