import Foundation
import GRDB
import Synchronization

/// An app without Freshet: observes the SELECT with GRDB, and takes the difference of two arrays.
final class ObservedList {
  struct Well: FetchableRecord, Hashable, Sendable {
    var id: Int
    var county, name, `operator`, status: String
    var depth: Double

    init(row: Row) {
      (id, county, name) = (row[0], row[1], row[2])
      (`operator`, status, depth) = (row[3], row[4], row[5])
    }
  }

  /// Shared by the observation's queue and the measuring thread.
  private final class Newest: Sendable {
    private let state = Mutex<(wells: [Well], operations: Int)>(([], 0))
    private let differed = DispatchSemaphore(value: 0)

    func take(_ wells: [Well]) {
      state.withLock { state in
        // From nothing to everything the algorithm is quadratic, and this is not measured.
        let isFirst = state.wells.isEmpty
        // Added up: what it tells may come faster than anybody waits.
        state.operations += isFirst ? 0 : wells.difference(from: state.wells).inferringMoves().count
        state.wells = wells
      }
      differed.signal()
    }

    /// - Returns: the operations reported since the last call.
    func wait() throws -> Int {
      if differed.wait(timeout: .now() + 120) == .timedOut { throw Failure("the observation told nothing in 120 s") }
      return state.withLock { state in
        defer { state.operations = 0 }
        return state.operations
      }
    }
  }

  private let pool: DatabasePool
  private let newest = Newest()
  private var observation: (any DatabaseCancellable)?
  private var number = 0
  private let rows: Int

  init(_ path: String) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
    pool = try DatabasePool(path: path, configuration: configuration)
    rows = try pool.read { try Int.fetchOne($0, sql: "SELECT max(id) FROM well") } ?? 0
    let request = SQLRequest<Well>(
      sql: "SELECT id, county, name, operator, status, depth FROM well \(Wells.order)")
    observation = ValueObservation.trackingConstantRegion { try request.fetchAll($0) }
      .start(in: pool, scheduling: .async(onQueue: DispatchQueue(label: "observed"))) { _ in
      } onChange: { [newest] wells in
        newest.take(wells)
      }
    _ = try newest.wait()
  }

  /// One-row commits, of contents and of sort values, for some seconds, three at the least.
  ///
  /// - Returns: the median time from the end of the commit to the difference, in microseconds.
  func change(seconds: Double) throws -> Double {
    var latencies = Latencies()
    let end = now() + Int(seconds * 1e9)
    repeat {
      number += 1
      let id = 1 + number * 7_919 % rows
      let sql = number % 2 == 0 ? "depth = depth + 1" : "name = 'Renamed ' || ?2"
      latencies.record(
        try measure {
          try $0.execute(sql: "UPDATE well SET \(sql) WHERE id = ?1 AND ?2 > 0", arguments: [id, self.number])
        })
    } while now() < end || latencies.count < 3
    return latencies.percentile(50)
  }

  /// A commit of 1,000 changes.
  ///
  /// - Returns: nanoseconds from its end to the difference.
  func thousand() throws -> Double {
    number += 1
    return Double(
      try measure { db in
        for change in 0..<1_000 {
          let id = 1 + (self.number * 1_000 + change) * 7_919 % self.rows
          let sql = change % 2 == 0 ? "depth = depth + 1" : "name = 'Renamed ' || name"
          try db.execute(sql: "UPDATE well SET \(sql) WHERE id = ?", arguments: [id])
        }
      })
  }

  private func measure(_ change: (Database) throws -> Void) throws -> Int {
    try pool.write(change)
    let start = now()
    // An observation that has just begun may tell once more what it began with.
    while try newest.wait() == 0 {}
    return now() - start
  }
}
