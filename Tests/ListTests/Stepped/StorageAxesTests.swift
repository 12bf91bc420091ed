import ServerSupport
import TestSupport
import Testing

/// Lists over files of every kind with values that are equal but not identical, while another process commits, readers
/// run and ticks come in random order: at quiet points each list equals SQLite's own answer.
///
/// `FRESHET_SEED=n swift test --filter StorageAxesTests` repeats a failure, which is printed with as few statements and
/// queries as still show it; `FRESHET_SEEDS=n` runs n cases.
@Suite(.serialized) struct StorageAxesTests {
  private static let transactions = 60

  /// Neighboring numbers: 143 of them contain every pair of two axes' values.
  private static let numbers: [UInt64] = {
    if let repeated = PropertySeeds.repeated { return [repeated] }
    let first = UInt64.random(in: 0..<1 << 40)
    return (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(8, long: 100)))).map { first + $0 }
  }()

  /// Former failures, each as short as it could be made.
  private static let found: [ListRun] = [
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
    StorageCase(StorageSchema(name: "found", sql: schema, tables: [], sources: []), encoding: encoding).run(
      [
        OracleQuery(
          table: from ?? "t", keys: ["\(group) AS k"], select: ["count(*) AS n"], orderBy: [], groupBy: [group],
          tellsKey: true)
      ],
      [
        "INSERT INTO t VALUES (3.0, 1), (4.0, 2), (5, 3), (-0.0, 4);",
        "INSERT INTO t VALUES (CAST(x'610062' AS TEXT), 5), ('B ', 6), (x'0041', 7);",
        "UPDATE t SET z = z + 1;", "DELETE FROM t WHERE x = 3;", "UPDATE t SET x = 4 WHERE x = 4;",
        "DELETE FROM t WHERE x = 0;", "UPDATE t SET x = 'C' WHERE x = CAST(x'610062' AS TEXT);",
        "DELETE FROM t WHERE x = 'B ';", "DELETE FROM t WHERE x = x'0041';",
      ])
  }

  @Test(arguments: found)
  func whatWasWrongOnceIsRight(run: ListRun) throws {
    for (index, step) in run.steps.enumerated() where step != .compare {
      var start = run
      start.steps = run.steps[...index] + [.compare]
      let failure = try start.failure()
      #expect(failure == nil, "\(start.story)")
      if failure != nil { return }
    }
  }

  @Test(arguments: numbers)
  func listsAgreeWithSQLite(number: UInt64) throws {
    let test = StorageCase(number: number)
    var generator = StorageGenerator(test, seed: number)
    let run = test.run(
      (0..<8).map { _ in generator.query() }, (0..<Self.transactions).map { _ in generator.transaction() })
    let problem = try run.report("storage-\(number)")
    #expect(problem == nil, "FRESHET_SEED=\(number), \(test)")
  }
}

extension StorageCase {
  /// A run of lists through transactions, with ticks, readers' work and comparisons in between at random.
  func run(_ queries: [OracleQuery], _ transactions: [String]) -> ListRun {
    let mode = journal == .changing ? "wal" : journal.rawValue
    var random = SeededGenerator(seed: number &+ 1)
    var steps: [RunStep] = []
    for (index, transaction) in transactions.enumerated() {
      steps.append(.commit(transaction))
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<3: steps.append(.step)
      case 3..<6: steps.append(.tick)
      case 6: steps.append(.readers)
      default: break
      }
      if Bool.random(using: &random) || index == transactions.count - 1 { steps.append(.compare) }
    }
    return ListRun(
      .stepped,
      setUp:
        "PRAGMA encoding = '\(encoding)'; PRAGMA page_size = \(pageSize); PRAGMA journal_mode = \(mode);\n\(schema.sql)",
      preparation: "PRAGMA journal_mode = \(mode); PRAGMA cache_size = 5; PRAGMA recursive_triggers = ON;"
        + (attaches ? "ATTACH 'FOLDER/other' AS other; CREATE TABLE other.p(a);" : ""),
      captureBytes: captureBytes, queries, steps: steps)
  }
}
