import Foundation
import Histogram

func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func nanoseconds(_ body: () -> Void) -> Int {
  let start = now()
  body()
  return now() - start
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Latencies in nanoseconds.
struct Latencies {
  private var histogram = Histogram<UInt64>(
    highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)

  mutating func record(_ nanoseconds: Int) { histogram.record(UInt64(max(1, nanoseconds))) }

  /// In milliseconds.
  func percentile(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1e6 }
}

/// One line of the table.
struct Result {
  var name: String
  var value: Double
  var unit: String
  var goal: String
  var isMet: Bool

  init(_ name: String, _ value: Double, _ unit: String, atMost goal: Double) {
    self.name = name
    self.value = value
    self.unit = unit
    self.goal = "≤ \(goal.formatted())"
    isMet = value <= goal
  }
}

extension Double {
  func formatted() -> String {
    self >= 100 || self == rounded() ? String(format: "%.0f", self) : String(format: "%.2f", self)
  }
}
