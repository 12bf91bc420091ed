import ChangeCapture
import Controllers
import Feed
import Following
import Gateway
import Requests

extension ServerReports {
  /// The text format of Prometheus, 0.0.4.
  ///
  /// - Parameter open: the databases that the report is of.
  func metrics(_ report: FollowerReport, _ open: [ServedDatabase]) -> String {
    let statistics = report.statistics
    let sockets = gateway.counters
    var text = MetricsText()
    writeClients(to: &text, sessions: sockets.sessions, subscriptions: statistics.subscriptions)
    text.gauge("freshet_streams", "Streams of server-sent events.", sockets.streams)
    text.gauge(
      "freshet_followers_unresponsive", "Followers that have not answered in time: their numbers are old.",
      report.unresponsive)
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
    text.counters(
      "freshet_units_total", "Units of results brought up to date, by where their rows were read.", label: "from",
      [("lookup", statistics.lookedUpUnits), ("pages", statistics.evaluatedUnits)])
    text.counter("freshet_refetches_total", "Queries run from scratch.", statistics.refetches)
    text.counter(
      "freshet_self_checks_total", "Lists that were compared with a fresh run of their queries.", statistics.selfChecks)
    text.counter("freshet_divergences_total", "Lists that differed, and were read anew.", statistics.divergences)
    let readers = open.map(\.pool.readers)
    text.gauge(
      "freshet_reader_jobs_waiting", "Queries and contents that wait for a reader.",
      readers.reduce(0) { $0 + $1.counts.waiting })
    text.gauge(
      "freshet_reader_jobs_running", "Readers that are busy.", readers.reduce(0) { $0 + $1.counts.running })
    text.gauge(
      "freshet_contents_bytes", "Large results that are on their way to clients.",
      readers.reduce(0) { $0 + $1.contentsBytes })
    text.counter("freshet_snapshots_total", "Snapshots sent.", statistics.snapshots)
    text.counter("freshet_patches_total", "Patches sent.", statistics.patches)
    text.summary(
      "freshet_tick_duration_seconds", "From noticing a commit to having handed over what it caused.",
      statistics.tickDurations)
    write(open.reduce(into: FeedCounts()) { $0.add($1.pool.feed.counts) }, to: &text)
    let transactions = open.compactMap(\.transactions?.counts)
    if !transactions.isEmpty {
      text.counter(
        "freshet_transactions_committed_total", "Transactions of clients that were committed.",
        transactions.reduce(0) { $0 + $1.committed })
      text.counter(
        "freshet_transactions_failed_total", "Transactions of clients that failed.",
        transactions.reduce(0) { $0 + $1.failed })
    }
    text.counters(
      "freshet_refused_total", "Refusals at the sockets, by reason.", label: "reason",
      [
        ("address", sockets.address), ("rate", sockets.rate), ("late", sockets.late), ("memory", sockets.memory),
        ("stalled", sockets.stalled),
      ])
    text.gauge("freshet_outgoing_bytes", "Bytes on their way to clients.", sockets.outgoing)
    writeDatabases(to: &text)
    writeQueues(of: open, to: &text)
    writeTrouble(of: open, to: &text)
    writeProcess(to: &text)
    databases.surroundings.replication?.write(to: &text)
    text.gauge("process_start_time_seconds", "When the server was started, in seconds since 1970.", startTime)
    return text.text
  }

  /// Metrics of a server with several databases.
  private func writeDatabases(to text: inout MetricsText) {
    if databases.only != nil { return }
    let counts = databases.counts
    text.gauge("freshet_databases_open", "Databases that are open.", databases.open.count)
    text.counter("freshet_databases_opened_total", "How often a database was opened.", counts.opened)
    text.counter("freshet_databases_closed_total", "How often a database was closed.", counts.closed)
    text.counter("freshet_databases_failed_total", "How often a database could not be opened.", counts.failed)
  }

  private func write(_ feed: FeedCounts, to text: inout MetricsText) {
    text.gauge("freshet_feed_readers", "Readers of the feed of changes.", feed.readers)
    text.counter("freshet_feed_commits_total", "Commits in the feed of changes.", feed.commits)
    text.counter(
      "freshet_feed_joined_commits_total", "Commits in the feed that share a message with others.", feed.joinedCommits)
    text.counter("freshet_feed_gaps_total", "Gaps sent to readers of the feed.", feed.gaps)
    text.gauge("freshet_feed_bytes", "Rows remembered for readers of the feed that come back.", feed.bytes)
  }
}
