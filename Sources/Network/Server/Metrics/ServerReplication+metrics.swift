import Replication

extension ServerReplication {
  func write(to text: inout MetricsText) {
    switch part {
    case .publisher(let publisher, _):
      let state = publisher.state
      text.gauge("freshet_publisher_up", "Whether changes are put into the log: 1 or 0.", state.isPublishing ? 1 : 0)
      text.counter("freshet_publisher_batches_total", "Batches put into the log.", state.batches)
      text.counter("freshet_publisher_bytes_total", "Bytes of batches.", state.bytes)
      text.counter("freshet_publisher_cuts_total", "Batches that were too large for the log.", state.cuts)
      text.counter("freshet_publisher_snapshots_total", "Snapshots sent.", state.snapshots)
    case .replica(let replica, _):
      let state = replica.state
      text.gauge(
        "freshet_replica_lag_seconds", "For how long something may have been missing; -1: since the start.",
        state.lag.map { Double($0) / 1_000 } ?? -1)
      text.gauge(
        "freshet_replica_lag_commits", "Commits known to be missing; -1: not known.", Int(state.missingCommits ?? -1))
      text.counter("freshet_replica_batches_total", "Batches applied.", state.batches)
      text.counter(
        "freshet_replica_self_checks_total", "Parts of tables compared with the writer's file.", state.comparisons)
      text.counter(
        "freshet_replica_divergences_total", "Parts of tables that were not as in the writer's file.", state.divergences
      )
      text.counters(
        "freshet_replica_snapshots_total", "Snapshots loaded, by why.", label: "reason",
        state.loads.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
    }
  }
}
