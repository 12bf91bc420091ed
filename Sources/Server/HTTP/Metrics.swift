import ChangeCapture
import Controllers
import Gateway
import Store
import Synchronization

/// Adds up what the followers tell, each on its own thread.
final class StatisticsSum: Sendable {
  private let state: Mutex<(missing: Int, sum: FollowerStatistics)>

  init(parts: Int) { state = Mutex((parts, FollowerStatistics())) }

  /// - Returns: the sum, when this was the last part.
  func add(_ part: FollowerStatistics) -> FollowerStatistics? {
    state.withLock { state in
      state.missing -= 1
      state.sum.controllers += part.controllers
      state.sum.subscriptions += part.subscriptions
      state.sum.versions += part.versions
      state.sum.ticks += part.ticks
      state.sum.capture.add(part.capture)
      state.sum.refetches += part.refetches
      state.sum.snapshots += part.snapshots
      state.sum.patches += part.patches
      state.sum.tickDurations.add(part.tickDurations)
      return state.missing == 0 ? state.sum : nil
    }
  }
}

extension FreshetServer {
  /// The text format of Prometheus, 0.0.4.
  func metrics(_ statistics: FollowerStatistics) -> String {
    let sockets = gateway.counters
    var text = MetricsText()
    text.gauge("freshet_sessions", "WebSocket connections.", sockets.sessions)
    text.gauge("freshet_streams", "Streams of server-sent events.", sockets.streams)
    text.gauge("freshet_subscriptions", "Subscriptions, of both.", statistics.subscriptions)
    text.gauge("freshet_controllers", "Queries that are followed.", statistics.controllers)
    text.gauge("freshet_versions", "Versions kept for clients that come back.", statistics.versions)
    text.counter("freshet_ticks_total", "Ticks that found a change of the database.", statistics.ticks)
    text.counter("freshet_changes_total", "Rows that changed in followed tables.", statistics.capture.rows)
    text.counter("freshet_capture_frames_total", "Frames of the WAL that were read.", statistics.capture.frames)
    text.counter(
      "freshet_capture_retries_total", "Snapshots given up because a commit came while they were identified.",
      statistics.capture.retries)
    text.counters(
      "freshet_capture_comparisons_total", "Comparisons of whole tables, by what made them necessary.", label: "reason",
      statistics.capture.comparisons.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 })
    text.gauge(
      "freshet_capture_bytes", "Memory of what is remembered of followed tables.", statistics.capture.bytes)
    text.counter("freshet_refetches_total", "Queries run from scratch.", statistics.refetches)
    let jobs = pool.readers.counts
    text.gauge("freshet_reader_jobs_waiting", "Queries and contents that wait for a reader.", jobs.waiting)
    text.gauge("freshet_reader_jobs_running", "Readers that are busy.", jobs.running)
    text.gauge("freshet_contents_bytes", "Large results that are on their way to clients.", pool.readers.contentsBytes)
    text.counter("freshet_snapshots_total", "Snapshots sent.", statistics.snapshots)
    text.counter("freshet_patches_total", "Patches sent.", statistics.patches)
    text.summary(
      "freshet_tick_duration_seconds", "From noticing a commit to having handed over what it caused.",
      statistics.tickDurations)
    if let transactions {
      let committed = transactions.committed.load(ordering: .relaxed)
      let failed = transactions.failed.load(ordering: .relaxed)
      text.counter("freshet_transactions_committed_total", "Transactions of clients that were committed.", committed)
      text.counter("freshet_transactions_failed_total", "Transactions of clients that failed.", failed)
    }
    text.counters(
      "freshet_refused_total", "What was refused at the sockets, by why.", label: "reason",
      [
        ("address", sockets.address), ("rate", sockets.rate), ("late", sockets.late), ("memory", sockets.memory),
        ("stalled", sockets.stalled),
      ])
    text.gauge("freshet_outgoing_bytes", "What is on its way to clients.", sockets.outgoing)
    text.gauge("process_start_time_seconds", "When the server was started, in seconds since 1970.", startTime)
    return text.text
  }
}

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

  mutating func counter(_ name: String, _ help: String, _ value: Int) {
    head(name, help, "counter")
    text += "\(name) \(value)\n"
  }

  mutating func counters(_ name: String, _ help: String, label: String, _ values: [(String, Int)]) {
    head(name, help, "counter")
    for (value, count) in values { text += "\(name){\(label)=\"\(value)\"} \(count)\n" }
  }

  /// Quantiles of the newest; sum and number of all.
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
