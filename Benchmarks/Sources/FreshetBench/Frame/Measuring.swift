import Foundation
import Histogram

func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Waits until a time of `now`, unless it has passed.
func sleep(until due: Int) {
  let wait = due - now()
  if wait > 0 { usleep(UInt32(wait / 1_000 + 1)) }
}

func nanoseconds(_ body: () throws -> Void) rethrows -> Int {
  let start = now()
  try body()
  return now() - start
}

/// One value for each round.
struct Samples: Codable {
  private(set) var values: [Double] = []

  init(_ values: [Double] = []) { self.values = values }

  mutating func add(_ value: Double) { values.append(value) }

  var median: Double { quantile(0.5) }
  var quartiles: (low: Double, high: Double) { (quantile(0.25), quantile(0.75)) }

  /// Between two values, in proportion.
  private func quantile(_ fraction: Double) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.last else { return .nan }
    let place = fraction * Double(sorted.count - 1)
    let index = Int(place)
    if index + 1 >= sorted.count { return last }
    return sorted[index] + (sorted[index + 1] - sorted[index]) * (place - Double(index))
  }

  /// Round by round: what was measured in one turn is compared.
  static func / (left: Samples, right: Samples) -> Samples {
    Samples(zip(left.values, right.values).map { $0 / $1 })
  }
}

/// Latencies in nanoseconds.
struct Latencies {
  private var histogram = Histogram<UInt64>(
    highestTrackableValue: 600_000_000_000, numberOfSignificantValueDigits: .three)

  mutating func record(_ nanoseconds: Int) { histogram.record(UInt64(max(1, nanoseconds))) }

  /// How long ago the commits of changed rows began: rows have that time in a column. It is recognised by its size.
  ///
  /// - Parameter start: before all of these times.
  mutating func record(agesOfChanges message: [UInt8], since start: Int) {
    let time = now()
    var number = 0
    for byte in message {
      if byte >= 48, byte <= 57 {
        number = min(number * 10 + Int(byte) - 48, .max / 20)
      } else if number > 0 {
        if number >= start, number <= time { record(time - number) }
        number = 0
      }
    }
  }

  var count: Int { Int(histogram.totalCount) }

  /// In microseconds.
  func percentile(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1e3 }
}
