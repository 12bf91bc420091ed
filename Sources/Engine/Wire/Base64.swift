/// RFC 4648 base64, with padding.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8?] = {
    var values = [UInt8?](repeating: nil, count: 256)
    for (index, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(index) }
    return values
  }()

  static func encode(_ bytes: UnsafeRawBufferPointer, into output: inout JSONWriter) {
    var index = 0
    while index < bytes.count {
      let rest = min(3, bytes.count - index)
      var group = UInt32(bytes[index]) << 16
      if rest > 1 { group |= UInt32(bytes[index + 1]) << 8 }
      if rest > 2 { group |= UInt32(bytes[index + 2]) }
      for position in 0..<4 {
        output.append(
          position <= rest ? alphabet[Int(group >> (18 - 6 * UInt32(position))) & 63] : UInt8(ascii: "="))
      }
      index += 3
    }
  }

  /// Decodes base64url (RFC 4648) without padding, as in JSON Web Tokens. Nil if the text is malformed.
  package static func decodeURL(_ text: Substring) -> [UInt8]? {
    var digits: [UInt8] = []
    for digit in text.utf8 {
      switch digit {
      case UInt8(ascii: "-"): digits.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): digits.append(UInt8(ascii: "/"))
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
      default: digits.append(digit)
      }
    }
    if digits.count % 4 == 1 { return nil }
    while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
    return decode(String(decoding: digits, as: UTF8.self))
  }

  /// Decodes base64. Nil if the text is malformed.
  package static func decode(_ text: String) -> [UInt8]? {
    var digits = Array(text.utf8)
    guard digits.count % 4 == 0 else { return nil }
    var padding = 0
    while padding < 2, digits.last == UInt8(ascii: "=") {
      digits.removeLast()
      padding += 1
    }
    var output: [UInt8] = []
    output.reserveCapacity(digits.count * 3 / 4)
    var group: UInt32 = 0
    for (index, digit) in digits.enumerated() {
      guard let value = values[Int(digit)] else { return nil }
      group = group << 6 | UInt32(value)
      if index % 4 == 3 {
        output += [UInt8(group >> 16 & 255), UInt8(group >> 8 & 255), UInt8(group & 255)]
        group = 0
      }
    }
    if padding == 2 { output.append(UInt8(group >> 4 & 255)) }
    if padding == 1 { output += [UInt8(group >> 10 & 255), UInt8(group >> 2 & 255)] }
    return output
  }
}
