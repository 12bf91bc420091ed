/// A way to write a day of the calendar.
enum DateFormat: CaseIterable {
  /// `2012-05-18`, which sorts as it is.
  case iso
  /// `18-May-12` or `18-May-2012`, with English months in any case.
  case monthName
  /// `5/18/2012`.
  case monthFirst
  /// `18/5/2012`.
  case dayFirst

  /// The day as `2012-05-18`; nil when the text is not of this format, or there is no such day.
  ///
  /// Years of two digits are those of POSIX: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068.
  func iso(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.count <= 11 else { return nil }
    let isSlashed = self == .monthFirst || self == .dayFirst
    let separator = isSlashed ? UInt8(ascii: "/") : UInt8(ascii: "-")
    let parts = text.split(separator: separator, omittingEmptySubsequences: false).map {
      UnsafeRawBufferPointer(rebasing: $0)
    }
    guard parts.count == 3 else { return nil }
    return switch self {
    case .iso: Self.day(Self.number(parts[0], 4...4), Self.number(parts[1], 2...2), Self.number(parts[2], 2...2))
    case .monthName: Self.day(Self.year(parts[2]), Self.month(parts[1]), Self.number(parts[0], 1...2))
    case .monthFirst:
      Self.day(Self.number(parts[2], 4...4), Self.number(parts[0], 1...2), Self.number(parts[1], 1...2))
    case .dayFirst:
      Self.day(Self.number(parts[2], 4...4), Self.number(parts[1], 1...2), Self.number(parts[0], 1...2))
    }
  }

  private static func day(_ year: Int?, _ month: Int?, _ day: Int?) -> [UInt8]? {
    guard let year, let month, let day, year > 0, (1...12).contains(month) else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...lengths[month - 1]).contains(day) else { return nil }
    let digits = [
      year / 1000, year / 100 % 10, year / 10 % 10, year % 10, -1, month / 10, month % 10, -1, day / 10, day % 10,
    ]
    return digits.map { $0 < 0 ? UInt8(ascii: "-") : UInt8(ascii: "0") + UInt8($0) }
  }

  /// A number of so many digits.
  private static func number(_ text: UnsafeRawBufferPointer, _ length: ClosedRange<Int>) -> Int? {
    guard length.contains(text.count) else { return nil }
    var value = 0
    for byte in text {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return value
  }

  private static func year(_ text: UnsafeRawBufferPointer) -> Int? {
    if let year = number(text, 4...4) { return year }
    return number(text, 2...2).map { $0 < 69 ? 2000 + $0 : 1900 + $0 }
  }

  private static func month(_ text: UnsafeRawBufferPointer) -> Int? {
    months.firstIndex { $0.count == text.count && zip($0, text).allSatisfy { $0 == $1 | 0x20 } }.map { $0 + 1 }
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ].map { Array($0.utf8) }
}
