import Foundation

/// Guards: what the change capture costs a writer, commit by commit, beside the same table without it.
struct CaptureBenchmark {
  let commits: Int

  /// The median of one-row commits with capture, divided by that without, in turns in one run.
  func run() throws -> Double {
    let plain = Wells(rows: 10_000)
    let tracked = Wells(rows: 10_000)
    defer {
      plain.remove()
      tracked.remove()
    }
    // Tracks; nobody follows.
    try Server(tracked.path).stop()
    let updates = [plain, tracked].map { wells in
      let database = Database(wells.path)
      return (database, database.prepare("UPDATE well SET depth = depth + 1 WHERE id = ?1"))
    }
    var times: [[Double]] = [[], []]
    for commit in 0..<commits {
      for side in 0..<2 {
        updates[side].1.bind(1, commit * 7919 % 10_000 + 1)
        times[side].append(Double(nanoseconds { updates[side].1.run() }))
      }
    }
    return median(times[1]) / median(times[0])
  }
}
