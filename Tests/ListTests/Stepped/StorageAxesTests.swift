import Controllers
import Foundation
import GRDB
import LiveQuery
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

/// Lists over files of every kind in which values are equal and not the same, while another process commits, readers run and
/// ticks come in an order of chance: at quiet points each list is what SQLite answers itself.
///
/// `FRESHET_SEED=n swift test --filter StorageAxesTests` repeats a failure, which is printed with as few statements and
/// queries as still show it; `FRESHET_SEEDS=n` runs so many cases.
@Suite(.serialized) struct StorageAxesTests {
  private static let transactions = 60

  /// Neighbouring ones: 143 of them have every pair of two axes' values.
  private static let numbers: [UInt64] = {
    if let repeated = PropertySeeds.repeated { return [repeated] }
    let first = UInt64.random(in: 0..<1 << 40)
    return (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(8, long: 100)))).map { first + $0 }
  }()

  /// What was once wrong, each as short as it could be made.
  private static let found: [StorageRun] = [
    ("CREATE TABLE t(x PRIMARY KEY, z) WITHOUT ROWID;", "UTF-8", "typeof(x)", nil),
    ("CREATE TABLE t(x PRIMARY KEY, z) WITHOUT ROWID;", "UTF-8", "x || ''", nil),
    ("CREATE TABLE t(x PRIMARY KEY, z);", "UTF-8", "typeof(x)", nil),
    ("CREATE TABLE t(x ANY PRIMARY KEY, z ANY) STRICT;", "UTF-8", "x || ''", nil),
    (
      "CREATE TABLE t(x PRIMARY KEY, z) WITHOUT ROWID; CREATE TABLE u(k); INSERT INTO u VALUES ('real'), ('integer');",
      "UTF-8", "u.k", "u JOIN t ON typeof(t.x) = u.k"
    ),
    ("CREATE TABLE t(x COLLATE NOCASE PRIMARY KEY, z);", "UTF-8", "x COLLATE NOCASE", nil),
    ("CREATE TABLE t(x COLLATE NOCASE PRIMARY KEY, z);", "UTF-16le", "x COLLATE NOCASE", nil),
    ("CREATE TABLE t(x COLLATE RTRIM PRIMARY KEY, z) WITHOUT ROWID;", "UTF-16be", "x", nil),
    ("CREATE TABLE t(x PRIMARY KEY, z) WITHOUT ROWID;", "UTF-16be", "lower(x)", nil),
  ].map { schema, encoding, group, from in
    StorageRun(
      test: StorageCase(StorageSchema(name: "found", sql: schema, tables: [], sources: []), encoding: encoding),
      queries: [
        OracleQuery(
          table: from ?? "t", keys: ["\(group) AS k"], select: ["count(*) AS n"], orderBy: [], groupBy: [group],
          tellsKey: true)
      ],
      transactions: [
        "INSERT INTO t VALUES (3.0, 1), (4.0, 2), (5, 3), (-0.0, 4);",
        "INSERT INTO t VALUES (CAST(x'610062' AS TEXT), 5), ('B ', 6), (x'0041', 7);",
        "UPDATE t SET z = z + 1;", "DELETE FROM t WHERE x = 3;", "UPDATE t SET x = 4 WHERE x = 4;",
        "DELETE FROM t WHERE x = 0;", "UPDATE t SET x = 'C' WHERE x = CAST(x'610062' AS TEXT);",
        "DELETE FROM t WHERE x = 'B ';", "DELETE FROM t WHERE x = x'0041';",
      ])
  }

  @Test(arguments: found)
  func whatWasWrongOnceIsRight(run: StorageRun) throws {
    for count in run.transactions.indices {
      var start = run
      start.transactions = Array(run.transactions[...count])
      let failure = try start.failure()
      #expect(failure == nil, "\(start.story)")
      if failure != nil { return }
    }
  }

  @Test(arguments: numbers)
  func listsAgreeWithSQLite(number: UInt64) throws {
    let test = StorageCase(number: number)
    var generator = StorageGenerator(test, seed: number)
    let run = StorageRun(
      test: test, queries: (0..<8).map { _ in generator.query() },
      transactions: (0..<Self.transactions).map { _ in generator.transaction() })
    guard try run.failure() != nil else { return }
    let least = try run.minimised()
    let failure = try least.failure() ?? "which does not always fail"
    Issue.record("FRESHET_SEED=\(number), \(test)\n\(failure)\n\(least.story)")
  }
}

/// Transactions and lists of one case; whether lists go wrong in it can be asked any number of times.
struct StorageRun: CustomTestStringConvertible, Sendable {
  var testDescription: String { "\(test), \(queries.map(\.json))" }

  let test: StorageCase
  var queries: [OracleQuery]
  var transactions: [String]

  /// For people, and for a shell.
  var story: String {
    (["schema: " + test.schema.sql] + queries.map { "list: \($0.json) \(String(describing: $0.window))" } + transactions)
      .joined(separator: "\n")
  }

  /// - Returns: nil when all lists were right at each quiet point.
  func failure() throws -> String? {
    let mode = test.journal == .changing ? "wal" : test.journal.rawValue
    let folder = try ProgramFolder(
      "PRAGMA encoding = '\(test.encoding)'; PRAGMA page_size = \(test.pageSize); PRAGMA journal_mode = \(mode);\n"
        + test.schema.sql)
    let queue = try DatabaseQueue(path: folder.database)
    let lists = try SteppedLists(path: folder.database, queries) { configuration in
      configuration.refetchInterval = .zero
      configuration.retryInterval = .zero
      configuration.captureBytes = test.captureBytes
    }
    try lists.writer.run("PRAGMA journal_mode = \(mode); PRAGMA cache_size = 5; PRAGMA recursive_triggers = ON;")
    if test.attaches { try lists.writer.run("ATTACH '\(folder.path)/other' AS other; CREATE TABLE other.p(a);") }
    var random = SeededGenerator(seed: test.number &+ 1)
    for (index, transaction) in transactions.enumerated() {
      try lists.writer.run(transaction)
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<3: lists.step()
      case 3..<6: lists.tick()
      case 6: lists.runReaders()
      default: break
      }
      if Bool.random(using: &random) || index == transactions.count - 1 {
        if let difference = try difference(lists, queue) { return "after transaction \(index): \(difference)" }
      }
    }
    return nil
  }

  private func difference(_ lists: SteppedLists, _ queue: DatabaseQueue) throws -> String? {
    for _ in 0..<3 { lists.step() }
    let models = lists.output.models
    if let trouble = lists.output.troubles.first { return trouble }
    if lists.statistics.divergences > 0 { return "the self-check found a divergence" }
    return try queue.read { db in
      for (index, query) in queries.enumerated() {
        guard let model = models["\(index)"] else { return "list \(index) has no rows" }
        if let difference = model.difference(from: try query.answer(db)) { return "list \(index): \(difference)" }
      }
      return nil
    }
  }

  /// The same with as little as still fails: first fewer lists, then fewer transactions, then fewer statements.
  func minimised() throws -> StorageRun {
    var least = self
    least.queries = try Self.shortened(queries) { queries in
      var run = least
      run.queries = queries
      return try run.failure() != nil
    }
    let transactions = try Self.shortened(least.transactions) { transactions in
      var run = least
      run.transactions = transactions
      return try run.failure() != nil
    }
    least.transactions = transactions
    for index in transactions.indices {
      let lines = transactions[index].split(separator: "\n").map(String.init)
      let shorter = try Self.shortened(lines) { lines in
        var run = least
        run.transactions[index] = lines.joined(separator: "\n")
        return try run.failure() != nil
      }
      least.transactions[index] = shorter.joined(separator: "\n")
    }
    return least
  }

  /// Leaves out ever smaller pieces for as long as what is left fails.
  private static func shortened<Element>(_ all: [Element], _ fails: ([Element]) throws -> Bool) rethrows -> [Element] {
    var least = all
    var length = max(1, all.count / 2)
    while true {
      var start = 0
      while start < least.count {
        var shorter = least
        shorter.removeSubrange(start..<min(start + length, least.count))
        if !shorter.isEmpty, try fails(shorter) { least = shorter } else { start += length }
      }
      if length == 1 { return least }
      length = max(1, length / 2)
    }
  }
}
