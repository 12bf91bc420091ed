import Dispatch
import Foundation
import LiveQuery
import Synchronization
import Wire

/// The values of some metrics in the last ten minutes, for a page that is opened later.
///
/// Any thread: one lock.
final class MetricsHistory: Sendable {
  private struct Sample {
    /// In seconds since 1970.
    let time: Double
    /// Values in the order of `names`.
    let values: [Double]
  }

  private let samples = Mutex<[Sample]>([])
  private let isStopped = Atomic<Bool>(false)
  private let queue = DispatchQueue(label: "freshet.history", qos: .utility)

  /// The metrics on the page "Server". Metrics that differ only in their labels are added up.
  static let names = [
    "freshet_tick_duration_seconds_sum", "freshet_tick_duration_seconds_count", "freshet_ticks_total",
    "freshet_changes_total", "freshet_patches_total", "freshet_controllers", "freshet_subscriptions",
    "freshet_sessions",
    "process_resident_memory_bytes",
  ]
  private static let length = 600.0
  private static let interval = 5

  /// - Parameter count: the number of open databases. The interval grows with them, because each sample has every
  ///   follower look at its file: one file a second.
  func start(
    count: @escaping @Sendable () -> Int, _ metrics: @escaping @Sendable (@escaping @Sendable (String) -> Void) -> Void
  ) {
    let wait = max(Self.interval, count())
    queue.asyncAfter(deadline: .now() + DispatchTimeInterval.seconds(wait)) { [weak self] in
      guard let self, !isStopped.load(ordering: .relaxed) else { return }
      metrics { [weak self] text in self?.add(text, at: Date().timeIntervalSince1970) }
      start(count: count, metrics)
    }
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// - Parameter text: all metrics, as `/metrics` has them.
  func add(_ text: String, at time: Double) {
    var values = [Double](repeating: 0, count: Self.names.count)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else { continue }
      let name = line.prefix { $0 != "{" && $0 != " " }
      if let index = Self.names.firstIndex(where: { $0 == name }) { values[index] += value }
    }
    samples.withLock { samples in
      samples.append(Sample(time: time, values: values))
      samples.removeFirst(samples.prefix { $0.time < time - Self.length }.count)
    }
  }

  var json: [UInt8] {
    let samples = samples.withLock { $0 }
    var writer = JSONWriter(reserving: samples.count * 128 + 512)
    writer.object { object in
      object.strings("metrics", Self.names)
      object.name("samples")
      object.array { list in
        for sample in samples {
          list.array { numbers in for number in [sample.time] + sample.values { numbers.value(SQLValue.real(number)) } }
        }
      }
    }
    return writer.bytes
  }
}
