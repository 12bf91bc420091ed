import Following
import Ground
import Requests
import Store

/// Writes metrics as Prometheus reads them, each with its HELP and TYPE.
struct MetricsText {
  private(set) var text = ""

  private mutating func head(_ name: String, _ help: String, _ type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func gauge(_ name: String, _ help: String, _ value: some CustomStringConvertible) {
    head(name, help, "gauge")
    text += "\(name) \(value)\n"
  }

  mutating func counter(_ name: String, _ help: String, _ value: some CustomStringConvertible) {
    head(name, help, "counter")
    text += "\(name) \(value)\n"
  }

  mutating func gauges(_ name: String, _ help: String, label: String, _ values: [(String, Int)]) {
    head(name, help, "gauge")
    for (value, count) in values { sample(name, label, value, count) }
  }

  mutating func counters(_ name: String, _ help: String, label: String, _ values: [(String, Int)]) {
    head(name, help, "counter")
    for (value, count) in values { sample(name, label, value, count) }
  }

  private mutating func sample(_ name: String, _ label: String, _ value: String, _ count: Int) {
    text += "\(name){\(label)=\"\(MetricsText.escaped(value))\"} \(count)\n"
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  mutating func histogram(_ name: String, _ help: String, _ histogram: DurationHistogram) {
    head(name, help, "histogram")
    for (bound, count) in zip(DurationHistogram.bounds, histogram.counts) {
      text += "\(name)_bucket{le=\"\(bound.seconds)\"} \(count)\n"
    }
    text += "\(name)_bucket{le=\"+Inf\"} \(histogram.count)\n"
    text += "\(name)_sum \(histogram.sum.seconds)\n\(name)_count \(histogram.count)\n"
  }

  /// Writes quantiles of the newest durations, and the sum and number of all.
  mutating func summary(_ name: String, _ help: String, _ durations: TickDurations) {
    head(name, help, "summary")
    let sorted = durations.newest.sorted()
    for quantile in [0.5, 0.9, 0.99] where !sorted.isEmpty {
      let rank = min(sorted.count - 1, Int((quantile * Double(sorted.count)).rounded(.up)) - 1)
      text += "\(name){quantile=\"\(quantile)\"} \(sorted[max(0, rank)].seconds)\n"
    }
    text += "\(name)_sum \(durations.sum.seconds)\n\(name)_count \(durations.count)\n"
  }
}
