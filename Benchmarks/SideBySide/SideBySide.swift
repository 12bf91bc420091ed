import Foundation
import Freshet
import GRDB

/// The same screen twice: banks by state, sorted by the date in a related table, live. How long a change of one date
/// takes until the screen's model has it, from before its transaction on, with a `FetchedResultsController` and with
/// GRDB's `ValueObservation`.
///
/// `swift run -c release freshet-side-by-side [ROWS ...]`: a line for each number of rows, medians of changes that
/// alternate.
@main @MainActor struct SideBySide {
  static func main() async throws {
    let sizes = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    print("rows      Freshet, ms    ValueObservation, ms    the transaction alone, ms")
    for rows in sizes.isEmpty ? [1_000, 10_000, 244_292] : sizes { try await measure(rows) }
  }

  private static func measure(_ rows: Int) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("banks.sqlite").path
    let pool = try DatabasePool(path: path)
    try await fill(pool, rows)

    var alone: [Double] = []
    for change in 0..<31 { alone.append(try await time { try await close(pool, change, of: rows) }) }
    var ours: [Double] = []
    var theirs: [Double] = []
    for round in 1...3 {
      ours += try await withController(path) { list in
        try await changes(pool, rows, round) { list.updates }
      }
      theirs += try await withObservation(pool) { list in
        try await changes(pool, rows, round) { list.updates }
      }
    }
    print([String(rows), median(ours), median(theirs), median(alone)].joined(separator: "    "))
  }

  private static func fill(_ pool: DatabasePool, _ rows: Int) async throws {
    try await pool.write { db in
      try db.execute(
        sql: """
          CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL);
          CREATE TABLE closing(bank_id INTEGER PRIMARY KEY REFERENCES bank(id), closed TEXT NOT NULL);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
          INSERT INTO bank SELECT i, 'Bank ' || i, 'State ' || (i * 7919 % 50) FROM n;
          INSERT INTO closing SELECT id, date('2000-01-01', (id * 31 % 9000) || ' days') FROM bank;
          """)
    }
  }

  /// A bank gets another date, far from the one before.
  private static func close(_ pool: DatabasePool, _ change: Int, of rows: Int) async throws {
    try await pool.write { db in
      try db.execute(
        sql: "UPDATE closing SET closed = ? WHERE bank_id = ?", arguments: [date(change), id(change, of: rows)])
    }
  }

  private nonisolated static func date(_ change: Int) -> String { "203\(change % 10)-01-\(10 + change / 10 % 20)" }
  private nonisolated static func id(_ change: Int, of rows: Int) -> Int { 1 + change * 37 % rows }

  /// - Parameter updates: how often the screen was shown anew.
  private static func changes(
    _ pool: DatabasePool, _ rows: Int, _ round: Int, updates: () -> Int
  ) async throws -> [Double] {
    var times: [Double] = []
    for change in round * 100..<round * 100 + 15 {
      let before = updates()
      times.append(
        try await time {
          try await close(pool, change, of: rows)
          while updates() == before { try await Task.sleep(for: .microseconds(20)) }
        })
    }
    return times
  }

  /// Milliseconds.
  private static func time(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .milliseconds(1)
  }

  private static func median(_ times: [Double]) -> String {
    String(format: "%.2f", times.sorted()[times.count / 2])
  }

  // MARK: - The screen, in both

  private static func withController(_ path: String, _ body: (BankList) async throws -> [Double]) async throws
    -> [Double]
  {
    let database = try LiveDatabase(path: path)
    defer { database.close() }
    let list = BankList(database)
    try await list.controller.performFetch()
    return try await body(list)
  }

  private static func withObservation(
    _ pool: DatabasePool, _ body: (ObservedBanks) async throws -> [Double]
  ) async throws -> [Double] {
    let list = ObservedBanks(pool)
    while list.sections.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    return try await body(list)
  }
}

struct ClosedBank: Codable, FetchableRecord, Sendable {
  var id: Int
  var name: String
  var state: String
  var closed: String
}

/// With Freshet: the sections are the controller's, and each change comes as index paths.
@MainActor final class BankList: FetchedResultsControllerDelegate {
  let controller: FetchedResultsController<ClosedBank>
  private(set) var updates = 0

  init(_ database: LiveDatabase) {
    let query = Query(
      from: "bank JOIN closing ON bank_id = bank.id", select: ["bank.id", "name", "state", "closed"],
      orderBy: ["closed"],
      sectionBy: "state")
    controller = database.results(query, as: ClosedBank.self)
    controller.delegate = self
  }

  nonisolated func controllerDidChangeContent(_ controller: FetchedResultsController<ClosedBank>) {
    MainActor.assumeIsolated { updates += 1 }
  }
}

/// With `ValueObservation`: all rows again after each change, cut into sections. Finding the changes would take a
/// difference in addition.
@MainActor final class ObservedBanks {
  private(set) var sections: [(state: String, banks: [ClosedBank])] = []
  private(set) var updates = 0
  private var cancellable: AnyDatabaseCancellable?

  init(_ pool: DatabasePool) {
    let observation = ValueObservation.tracking { db in
      try ClosedBank.fetchAll(
        db,
        sql: """
          SELECT bank.id, name, state, closed FROM bank JOIN closing ON bank_id = bank.id ORDER BY state, closed, bank.id
          """)
    }
    cancellable = observation.start(in: pool, scheduling: .async(onQueue: .main)) { error in
      fatalError("\(error)")
    } onChange: { [weak self] banks in
      MainActor.assumeIsolated { self?.show(banks) }
    }
  }

  private func show(_ banks: [ClosedBank]) {
    var sections: [(state: String, banks: [ClosedBank])] = []
    for bank in banks {
      if sections.last?.state != bank.state { sections.append((bank.state, [])) }
      sections[sections.count - 1].banks.append(bank)
    }
    self.sections = sections
    updates += 1
  }
}
