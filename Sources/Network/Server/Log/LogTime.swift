import Foundation

/// A moment as logs write it: RFC 3339 in UTC, with milliseconds, such as `2026-11-22T13:45:09.123Z`.
struct LogTime: CustomStringConvertible {
  /// Milliseconds since 1970; not negative.
  let milliseconds: Int64

  static var now: LogTime {
    LogTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
  }

  var description: String {
    let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    let (year, month, day) = LogTime.date(days)
    let seconds = rest / 1_000
    let date = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
    let time = "\(pad(seconds / 3_600, 2)):\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2))"
    return "\(date)T\(time).\(pad(rest % 1_000, 3))Z"
  }

  /// The Gregorian date of a day after 1970-01-01, counted in eras of 400 years that begin in March.
  private static func date(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (day + 719_468).quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let isNextYear = month >= 10
    return (
      yearOfEra + era * 400 + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
      dayOfYear - (153 * month + 2) / 5 + 1
    )
  }
}

private func pad(_ number: Int64, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
