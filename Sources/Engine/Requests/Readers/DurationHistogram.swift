package import Ground
import Store

/// A histogram of durations with a few upper bounds.
package struct DurationHistogram: Sendable {
  package static let bounds: [Nanoseconds] = [
    .milliseconds(1), .milliseconds(10), .milliseconds(100), .milliseconds(1_000), .milliseconds(10_000),
  ]

  /// For each bound, the number of durations that did not exceed it.
  package private(set) var counts = [Int](repeating: 0, count: bounds.count)
  package private(set) var count = 0
  package private(set) var sum = Nanoseconds.zero

  package init() {}

  package mutating func add(_ other: DurationHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    sum += other.sum
  }

  mutating func note(_ span: Nanoseconds) {
    for (index, bound) in Self.bounds.enumerated() where span <= bound { counts[index] += 1 }
    count += 1
    sum += span
  }
}
