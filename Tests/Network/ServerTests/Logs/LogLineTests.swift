import Foundation
import LiveQuery
import TestSupport
import Testing

@testable import Server

/// The parts of log lines.
@Suite struct LogLineTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
    (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_800_007, "2000-03-01T00:00:00.007Z"),
    (1_735_689_599_999, "2024-12-31T23:59:59.999Z"), (4_107_542_399_050, "2100-02-28T23:59:59.050Z"),
    (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
  ])
  func `Times are written as RFC 3339 says`(milliseconds: Int64, text: String) {
    #expect(LogTime(milliseconds: milliseconds).description == text)
  }

  @Test func `Times are those of the calendar`() {
    var random = SeededGenerator(seed: 7)
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for _ in 0..<2_000 {
      let milliseconds = Int64.random(in: 0..<200 * 365 * 86_400_000, using: &random)
      let date = try? format.parse(LogTime(milliseconds: milliseconds).description)
      #expect(date.map { abs($0.timeIntervalSince1970 * 1_000 - Double(milliseconds)) < 0.5 } == true)
    }
  }

  @Test(arguments: [
    ("/healthz", "/healthz"), ("a\nb\"", "a\nb\""), ("é", "é"), ("a\u{7F}\u{9B}31m", "a\u{FFFD}\u{FFFD}31m"),
    ("\u{202E}txt\u{2066}", "\u{FFFD}txt\u{FFFD}"), ("123456789012", "1234567890"), ("ééééééé", "ééééééé"),
  ])
  func `What a terminal would obey is replaced, and what is long is cut`(text: String, expected: String) {
    #expect(text.loggable(10) == expected)
  }

  @Test(arguments: [ErrorCode.badMessage, .noSuchTable, .schemaChanged, .internal, .unauthenticated])
  func `A number says which subscription ended, and why`(code: ErrorCode) {
    for number in [0, 1, 1 << 40] as [UInt64] {
      let end = SubscriptionEnd(rawValue: SubscriptionEnd(number: number, code: code).rawValue)
      #expect(end.number == number && end.code == code)
    }
    #expect(SubscriptionEnd(rawValue: SubscriptionEnd(number: 7, code: .notFound).rawValue).code == nil)
  }
}
