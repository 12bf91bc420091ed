import Controllers
import Ground
import LiveQuery
import Requests
import Store

// Metrics of clients, queues, trouble and the process. Nothing here waits for another thread.
extension ServerReports {
  /// Counts clients by role if there are roles.
  func writeClients(to text: inout MetricsText, sessions: Int, subscriptions: Int) {
    let (sessionsHelp, subscriptionsHelp) = ("WebSocket connections.", "Subscriptions, of sessions and streams.")
    let names = databases.access.roleNames.sorted()
    if names.isEmpty {
      text.gauge("freshet_sessions", sessionsHelp, sessions)
      return text.gauge("freshet_subscriptions", subscriptionsHelp, subscriptions)
    }
    let counts = names.map { ($0, roles[$0]) }
    text.gauges("freshet_sessions", sessionsHelp, label: "role", counts.map { ($0, $1.sessions) })
    text.gauges("freshet_subscriptions", subscriptionsHelp, label: "role", counts.map { ($0, $1.subscriptions) })
  }

  func writeQueues(of open: [ServedDatabase], to text: inout MetricsText) {
    text.histogram(
      "freshet_reader_wait_seconds", "How long queries and contents have waited for a reader.",
      open.reduce(into: DurationHistogram()) { $0.add($1.pool.readers.waits) })
    text.gauge(
      "freshet_reader_longest_wait_seconds", "For how long the oldest of those that wait has.",
      open.map(\.pool.readers.longestWait).max()?.seconds ?? 0)
    text.gauges(
      "freshet_follower_commands_waiting", "Commands that wait for a follower.", label: "follower",
      waitingCommands(of: open).enumerated().map { ("\($0)", $1) })
    let transactions = open.compactMap(\.transactions?.counts)
    if !transactions.isEmpty {
      text.gauge(
        "freshet_transactions_waiting", "Transactions that wait for the writer.",
        transactions.reduce(0) { $0 + $1.waiting })
    }
  }

  /// Waiting commands by the follower's number in its database.
  private func waitingCommands(of open: [ServedDatabase]) -> [Int] {
    open.map(\.pool.waitingCommands).reduce(into: []) { all, commands in
      for (number, count) in commands.enumerated() {
        if number < all.count { all[number] += count } else { all.append(count) }
      }
    }
  }

  func writeTrouble(of open: [ServedDatabase], to text: inout MetricsText) {
    text.counters(
      "freshet_rejections_total", "Errors that clients were sent, by code.", label: "code",
      rejections.all.map { ($0.code, $0.count) })
    let slow = open.map(\.pool.readers.slow.counts)
    let queries = slow.reduce(into: [String: Int]()) { all, counts in
      for (fingerprint, count) in counts.queries { all[fingerprint.description, default: 0] += count }
    }
    text.counters(
      "freshet_slow_queries_total", "Runs of queries that took long, by query.", label: "fingerprint",
      queries.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
        + [("other", slow.reduce(0) { $0 + $1.others })])
    if let accessLog {
      text.counter("freshet_log_lines_dropped_total", "Lines that the access log had no room for.", accessLog.dropped)
    }
  }

  func writeProcess(to text: inout MetricsText) {
    let process = ProcessMetrics()
    if let bytes = process.residentBytes {
      text.gauge("process_resident_memory_bytes", "Memory that the process holds.", bytes)
    }
    if let count = process.openDescriptors {
      text.gauge("process_open_fds", "Open files and sockets.", count)
    }
    text.counter("process_cpu_seconds_total", "Time that processors have spent.", process.processorSeconds)
  }
}
