/// Which texts are numbers: those that become one without losing a character that may have meant something.
enum NumberSyntax {
  private static let zero = UInt8(ascii: "0")

  /// The value of `0`, or of an optional minus and digits without a leading zero that fit into 64 bits.
  static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
    guard let digits = digits(text, from: isNegative(text) ? 1 : 0), digits.upperBound == text.count else { return nil }
    // -0 would lose its sign.
    if text[digits.lowerBound] == zero { return text.count == 1 ? 0 : nil }
    var value: Int64 = 0
    for byte in text[digits] {
      let (product, isTooLong) = value.multipliedReportingOverflow(by: 10)
      // Negative throughout: there is one more negative number.
      let (difference, isTooLarge) = product.subtractingReportingOverflow(Int64(byte - zero))
      if isTooLong || isTooLarge { return nil }
      value = difference
    }
    if isNegative(text) { return value }
    return value == .min ? nil : -value
  }

  /// Whether it is a decimal fraction, with an exponent if it likes, and finite; or an integer that a 64-bit float keeps.
  ///
  /// An exponent needs a point or a sign (`1.5e9`, `1e+09`): `12E4` is more often a code than a number.
  static func isReal(_ text: UnsafeRawBufferPointer) -> Bool {
    if let integer = integer(text) { return integer.magnitude <= 1 << 53 }
    var position = isNegative(text) ? 1 : 0
    var hasMark = false
    let whole = digits(text, from: position)
    if let whole {
      // 00.5 is no way to write a number.
      if whole.count > 1, text[whole.lowerBound] == zero { return false }
      position = whole.upperBound
    }
    if position < text.count, text[position] == UInt8(ascii: ".") {
      guard let fraction = digits(text, from: position + 1) else { return false }
      position = fraction.upperBound
      hasMark = true
    } else if whole == nil {
      return false
    }
    guard position < text.count else { return hasMark }
    guard text[position] | 0x20 == UInt8(ascii: "e") else { return false }
    position += 1
    if position < text.count, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
      position += 1
      hasMark = true
    }
    guard hasMark, let exponent = digits(text, from: position), exponent.upperBound == text.count else { return false }
    return Double(String(decoding: text, as: UTF8.self))?.isFinite ?? false
  }

  private static func isNegative(_ text: UnsafeRawBufferPointer) -> Bool { text.first == UInt8(ascii: "-") }

  /// The digits from `start` on; nil when there are none.
  private static func digits(_ text: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
    var end = start
    while end < text.count, text[end] >= zero, text[end] <= UInt8(ascii: "9") { end += 1 }
    return end > start ? start..<end : nil
  }
}
