import Controllers
import Ground
import LiveQuery
import Requests
import Store

// Metrics of clients, queues, trouble and the process. Nothing here waits for another thread.
extension ServerReports {
  /// By role where there are roles.
  func writeClients(to text: inout MetricsText, sessions: Int, subscriptions: Int) {
    let (sessionsHelp, subscriptionsHelp) = ("WebSocket connections.", "Subscriptions, of sessions and streams.")
    if doors.roleNames.isEmpty {
      text.gauge("freshet_sessions", sessionsHelp, sessions)
      return text.gauge("freshet_subscriptions", subscriptionsHelp, subscriptions)
    }
    let counts = doors.roleNames.map { ($0, roles[$0]) }
    text.gauges("freshet_sessions", sessionsHelp, label: "role", counts.map { ($0, $1.sessions) })
    text.gauges("freshet_subscriptions", subscriptionsHelp, label: "role", counts.map { ($0, $1.subscriptions) })
  }

  func writeQueues(to text: inout MetricsText) {
    text.histogram(
      "freshet_reader_wait_seconds", "How long queries and contents have waited for a reader.", pool.readers.waits)
    text.gauge(
      "freshet_reader_longest_wait_seconds", "For how long the oldest of those that wait has.",
      pool.readers.longestWait.seconds)
    text.gauges(
      "freshet_follower_commands_waiting", "Commands that wait for a follower.", label: "follower",
      pool.waitingCommands.enumerated().map { ("\($0)", $1) })
    if let transactions {
      text.gauge(
        "freshet_transactions_waiting", "Transactions that wait for the writer.", transactions.counts.waiting)
    }
  }

  func writeTrouble(to text: inout MetricsText) {
    text.counters(
      "freshet_rejections_total", "Errors that clients were sent, by code.", label: "code",
      rejections.all.map { ($0.code, $0.count) })
    let slow = pool.readers.slow.counts
    text.counters(
      "freshet_slow_queries_total", "Runs of queries that took long, by query.", label: "fingerprint",
      slow.queries.map { ($0.fingerprint.description, $0.count) } + [("other", slow.others)])
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
