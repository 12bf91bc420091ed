import Following
import Foundation
import GRDB
import Lists
import LiveQuery
import ServerSupport
import Store
import TestSupport
import Testing

/// The self-check finds wrong lists by comparing them with their queries, and repairs them.
@Suite struct SelfCheckTests {
  private static let schema = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE t(id INTEGER PRIMARY KEY, kind TEXT, note TEXT); CREATE TABLE other(a);
    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO t SELECT i, 'kind' || (i % 3), printf('needle%04d', i) FROM n;
    """

  private static let queries = [
    OracleQuery(table: "t", keys: ["id"], select: ["note"], orderBy: ["id DESC"]),
    OracleQuery(table: "t", keys: ["id"], select: ["kind"], orderBy: ["note"], window: (2, 5)),
    OracleQuery(table: "t", keys: ["id"], select: ["kind"], filter: "note < 'needle5'", orderBy: []),
    OracleQuery(table: "t", keys: ["id"], select: ["kind"], section: ("substr(note, 7, 1)", false), orderBy: []),
    OracleQuery(table: "t", keys: ["note"], select: ["count(*) AS n"], orderBy: [], groupBy: ["note"]),
    OracleQuery(
      table: "t", keys: ["kind"], select: ["max(note) AS last"], orderBy: [], groupBy: ["kind"]),
    OracleQuery(
      table: "t", keys: ["id"], select: ["kind"], filter: "id < 5", orderBy: [],
      alongside: ["last": "SELECT max(note) FROM t"]),
    OracleQuery(
      table: "t", keys: ["id"], select: ["kind"], section: ("substr(note, 1, 6) COLLATE NOCASE", false), orderBy: []),
    // Run again after every change.
    OracleQuery(
      table: "(SELECT id, note, row_number() OVER (ORDER BY note) AS place FROM t)", keys: ["id"],
      select: ["note", "place"], orderBy: ["place"], tellsKey: true),
    // Only what is totaled differs.
    OracleQuery(
      table: "t", keys: ["id"], select: ["kind"], section: ("kind", false), orderBy: [], totals: ["last": "max(note)"]),
  ]

  /// The list whose sections are named by texts that compare as equal.
  private static let namedSections = 7

  private final class Lists {
    let folder: ProgramFolder
    let lists: SteppedLists
    let queue: DatabaseQueue

    init(_ mode: SelfCheckMode = .always) throws {
      folder = try ProgramFolder(SelfCheckTests.schema)
      lists = try SteppedLists(path: folder.database, SelfCheckTests.queries) {
        $0.selfCheck = mode
        $0.refetchInterval = .zero
        $0.retryInterval = .zero
      }
      queue = try DatabaseQueue(path: folder.database)
      for _ in 0..<3 { lists.step() }
    }

    /// Changes a row directly in the database file, without a commit.
    func forge(_ text: String, _ replacement: String) throws {
      try lists.writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
      lists.step()
      // A commit to another table has SQLite drop its cached pages, and does not report the changed row.
      try lists.writer.run("INSERT INTO other VALUES (1)")
      let url = URL(fileURLWithPath: folder.database)
      var status = stat()
      try #require(stat(folder.database, &status) == 0)
      let handle = try FileHandle(forUpdating: url)
      let place = try #require(try Data(contentsOf: url).firstRange(of: Data(text.utf8)))
      try handle.seek(toOffset: UInt64(place.lowerBound))
      try handle.write(contentsOf: Data(replacement.utf8))
      try handle.close()
      // With its former times, the file is not taken for an overwritten one.
      let times = [status.st_atim, status.st_mtim]
      try #require(utimensat(AT_FDCWD, folder.database, times, 0) == 0)
    }

    func differences() throws -> [Int] {
      let models = lists.output.models
      return try queue.read { db in
        try SelfCheckTests.queries.indices.filter {
          try models["\($0)"]?.difference(from: SelfCheckTests.queries[$0].answer(db)) != nil
        }
      }
    }
  }

  // Rules of self-check: compares-nothing, only-the-length, not-alongside, not-totals, no-stamps, not-mended
  @Test func everyListThatIsWrongIsFoundAndMended() throws {
    let test = try Lists()
    #expect(test.lists.statistics.divergences == 0 && test.lists.statistics.selfChecks >= Self.queries.count)
    try test.forge("needle0040", "needle9940")
    // A tick finds nothing by itself; the readers' comparison does.
    test.lists.tick()
    // The list with a window shows other rows.
    #expect(try test.differences() == [0, 2, 3, 4, 5, 6, 8, 9])
    for _ in 0..<4 { test.lists.step() }
    #expect(try test.differences() == [])
    #expect(test.lists.statistics.divergences == Self.queries.count - 1)
    #expect(test.lists.output.troubles == [])
    // They are followed as before.
    try test.lists.writer.run("UPDATE t SET note = 'needle0001' WHERE id = 7; DELETE FROM t WHERE id = 39")
    for _ in 0..<3 { test.lists.step() }
    #expect(try test.differences() == [])
    #expect(test.lists.statistics.divergences == Self.queries.count - 1)
  }

  /// The name of a section is that of its first row, which is not among what the list selects.
  // Rules of self-check: no-labels
  @Test func anotherNameOfASectionIsFound() throws {
    let test = try Lists()
    try test.forge("needle0001", "Needle0001")
    test.lists.tick()
    #expect(try test.differences().contains(Self.namedSections))
    for _ in 0..<4 { test.lists.step() }
    #expect(try test.differences() == [])
  }

  /// The log reports what led to a divergence: ticks, tables, units, versions and commits, but no values of rows.
  @Test func aDivergenceIsLoggedWithWhatLedThere() throws {
    let test = try Lists()
    for text in ["first", "second"] {
      try test.lists.writer.run("UPDATE t SET kind = '\(text)', note = '\(text)' || id WHERE id IN (3, 4)")
      for _ in 0..<2 { test.lists.step() }
    }
    try test.forge("needle0040", "needle9940")
    for _ in 0..<4 { test.lists.step() }
    let lines = test.lists.log.lines
    #expect(lines.count == test.lists.statistics.divergences && lines.count > 5)
    for line in lines {
      #expect(line.contains("fingerprint=") && line.contains("differing="), "\(line)")
      #expect(line.contains("1 commits: 2 of t; "), "\(line)")
      for value in ["needle", "kind0", "first", "second"] { #expect(!line.contains(value), "\(line)") }
    }
    for updates in [
      "2 units looked up: version 2 at 1; 2 units looked up: version 3 at 2",
      "run again, 4 units changed: version 2 at 1; ",
    ] { #expect(lines.contains { $0.contains("updates=" + updates) }, "\(lines)") }
    // The next log line says that the list was repaired.
    try test.forge("needle0039", "needle9939")
    for _ in 0..<4 { test.lists.step() }
    let more = test.lists.log.lines.dropFirst(lines.count)
    #expect(!more.isEmpty && more.allSatisfy { $0.contains("mended: version ") }, "\(more)")
  }

  /// If a query does not find a row that its list has, the list is known to be wrong without a check.
  @Test func aRowThatIsNotFoundHasItsListReadAnew() throws {
    let test = try Lists(.off)
    try test.forge("needle0040", "needle9940")
    test.lists.tick()
    // The row is not found by the list that filters by the text, and by the one that groups by it.
    for index in [2, 4] { test.lists.ask(index, .resync) }
    for _ in 0..<4 { test.lists.step() }
    #expect(test.lists.statistics.divergences == 2 && test.lists.output.delays.isEmpty)
    #expect(try test.differences() == [0, 3, 5, 6, 8, 9])
    #expect(test.lists.output.troubles == [])
  }

  /// The rows that a reader sees after a later commit say nothing about the version to be checked.
  // Rules of self-check: any-state
  @Test func anotherStateIsNotCompared() throws {
    let test = try Lists()
    try test.lists.writer.run("UPDATE t SET note = 'changed' WHERE id = 1")
    test.lists.tick()
    let checks = test.lists.statistics.selfChecks
    for number in 0..<5 {
      // A tick requests the checks; the readers then see a later state.
      try test.lists.writer.run("UPDATE t SET note = 'again \(number)' WHERE id = 2")
      test.lists.runReaders()
      test.lists.tick()
    }
    for _ in 0..<5 {
      // A reader sees a change that no tick sees, because it is undone before the next tick.
      try test.lists.writer.run("UPDATE t SET note = 'between', kind = 'x' WHERE id = 3")
      test.lists.runReaders()
      try test.lists.writer.run("UPDATE t SET note = 'needle0003', kind = 'kind0' WHERE id = 3")
      test.lists.tick()
    }
    #expect(test.lists.statistics.divergences == 0)
    for _ in 0..<3 { test.lists.step() }
    #expect(test.lists.statistics.divergences == 0 && test.lists.statistics.selfChecks > checks)
    #expect(try test.differences() == [])
  }

  /// Sums of reals differ in their last digits between the order of an index and that of the table. That does not make
  /// a list wrong.
  @Test func anotherOrderOfASumIsNoDivergence() throws {
    let folder = try ProgramFolder(
      """
      PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, kind TEXT, v REAL); CREATE INDEX i ON t(kind, v);
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO t SELECT i, 'kind' || (i % 3), 1e15 / (i * 7 % 101 + 0.1) FROM n;
      """)
    let query = OracleQuery(
      table: "t NOT INDEXED", keys: ["kind"], select: ["sum(v) AS s"], orderBy: ["s"], groupBy: ["kind"],
      alongside: ["all": "SELECT sum(v) FROM t"])
    let lists = try SteppedLists(path: folder.database, [query]) { $0.refetchInterval = .zero }
    for number in 0..<20 {
      try lists.writer.run("UPDATE t SET v = v / 3 WHERE id % 20 = \(number); DELETE FROM t WHERE id = \(number)")
      for _ in 0..<3 { lists.step() }
    }
    #expect(lists.statistics.divergences == 0 && lists.statistics.selfChecks > 10)
  }
}
