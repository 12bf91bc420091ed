import Replication

extension ServerReplication {
  /// Writes sums over several databases, and the longest lag.
  func write(to text: inout MetricsText) {
    switch part {
    case .publisher(let publishing):
      let states = publishing.service.publishers.map(\.state)
      if isFolder { text.gauge("freshet_databases_published", "Databases that are to be published.", states.count) }
      text.gauge(
        "freshet_publisher_up", "Whether changes of all databases are put into the log: 1 or 0.",
        states.allSatisfy(\.isPublishing) ? 1 : 0)
      text.counter("freshet_publisher_batches_total", "Batches put into the log.", states.sum(of: \.batches))
      text.counter("freshet_publisher_bytes_total", "Bytes of batches.", states.sum(of: \.bytes))
      text.counter("freshet_publisher_cuts_total", "Batches that were too large for the log.", states.sum(of: \.cuts))
      text.counter("freshet_publisher_snapshots_total", "Snapshots sent.", states.sum(of: \.snapshots))
    case .replica(let service):
      let states = service.replicas.map(\.state)
      if isFolder { text.gauge("freshet_databases_replicated", "Databases that are made of the log.", states.count) }
      let lags = states.map(\.lag)
      text.gauge(
        "freshet_replica_lag_seconds", "For how long something may have been missing; -1: since the start.",
        lags.contains(nil) ? -1 : Double(lags.compactMap(\.self).max() ?? 0) / 1_000)
      let missing = states.map(\.missingCommits)
      text.gauge(
        "freshet_replica_lag_commits", "Commits known to be missing; -1: not known.",
        missing.contains(nil) ? -1 : Int(missing.reduce(0) { $0 + ($1 ?? 0) }))
      text.counter("freshet_replica_batches_total", "Batches applied.", states.sum(of: \.batches))
      text.counter(
        "freshet_replica_self_checks_total", "Parts of tables compared with the writer's file.",
        states.sum(of: \.comparisons))
      text.counter(
        "freshet_replica_divergences_total", "Parts of tables that were not as in the writer's file.",
        states.sum(of: \.divergences))
      let loads = states.reduce(into: [:]) { $0.merge($1.loads, uniquingKeysWith: +) }
      text.counters(
        "freshet_replica_snapshots_total", "Snapshots loaded, by why.", label: "reason",
        loads.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
    }
  }
}

extension Array {
  fileprivate func sum(of count: (Element) -> Int) -> Int { reduce(0) { $0 + count($1) } }
}
