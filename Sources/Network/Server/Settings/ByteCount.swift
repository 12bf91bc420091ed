/// Numbers of things as operators write them; 0 stands for any number where a setting limits it.
package enum Count {
  static let range = 0...1_000_000
  package static let description = "a number from 0 to 1000000"

  /// Nil if the text is malformed.
  package static func parse(_ text: String) -> Int? { Int(text).flatMap { range.contains($0) ? $0 : nil } }
}

/// Amounts of memory as operators write them.
package enum ByteCount {
  /// Bytes, or with a unit of 1,024: `268435456`, `256 MiB`, `1GiB`. Nil if the text is malformed.
  package static func parse(_ text: String) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    guard let number = Int(digits), let shift = ["": 0, "KiB": 10, "MiB": 20, "GiB": 30][String(unit)],
      number <= Int.max >> shift
    else { return nil }
    return number << shift
  }
}
