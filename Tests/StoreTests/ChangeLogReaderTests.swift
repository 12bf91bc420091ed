import GRDB
import GRDBSQLite
import LiveQuery
import Testing

@testable import Store

/// Positions, gaps and the log's own length.
@Suite struct ChangeLogReaderTests {
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"

  private func reader(_ fixture: ChangeLogFixture) throws -> ChangeLogReader {
    try fixture.queue.writeWithoutTransaction { try ChangeLogReader(connection: $0.sqliteConnection!) }
  }

  private func read(_ fixture: ChangeLogFixture, _ reader: ChangeLogReader, after sequence: Int64) throws -> (
    outcome: ReadOutcome, sequences: [Int64]
  ) {
    try fixture.queue.read { _ in
      var sequences: [Int64] = []
      let outcome = try reader.read(after: sequence) { sequences.append($0.sequence) }
      return (outcome, sequences)
    }
  }

  private func insert(_ count: Int) -> String {
    """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
    INSERT INTO t(v) SELECT i FROM n;
    """
  }

  @Test func readingGoesOnFromTheHead() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let reader = try reader(fixture)
    #expect(try fixture.queue.read { _ in try reader.newest() } == 0)
    #expect(try read(fixture, reader, after: 0) == (.complete(0), []))
    try fixture.write(insert(3))
    #expect(try read(fixture, reader, after: 0) == (.complete(3), [1, 2, 3]))
    #expect(try read(fixture, reader, after: 2) == (.complete(3), [3]))
    #expect(try read(fixture, reader, after: 3) == (.complete(3), []))
    #expect(try read(fixture, reader, after: 4) == (.gap(newest: 3), []), "a position of another log")
  }

  @Test func aSnapshotReadsNoFurtherThanItself() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let reader = try reader(fixture)
    try fixture.queue.read { db in
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 0)
      try fixture.write(insert(1))
      #expect(try reader.read(after: 0) { _ in }.newest == 0)
    }
    #expect(try read(fixture, reader, after: 0).sequences == [1])
  }

  @Test func trimmedRowsAreAGap() throws {
    let fixture = try ChangeLogFixture(Self.schema, capacity: 100)
    let reader = try reader(fixture)
    try fixture.write(insert(250))
    let count = Int64(try fixture.write("SELECT count(*) FROM _freshet_log")) ?? 0
    #expect(count > 80 && count <= 100)
    #expect(try read(fixture, reader, after: 0).outcome == .gap(newest: 250))
    #expect(try read(fixture, reader, after: 250 - count - 1).sequences == [])
    #expect(try read(fixture, reader, after: 250 - count).sequences.count == Int(count))
  }

  @Test(arguments: [1, 7, 10, 999, 1_000, 100_000])
  func theLogNeverHoldsMoreThanItsCapacity(capacity: Int) throws {
    let fixture = try ChangeLogFixture(Self.schema, capacity: capacity)
    let sql = "SELECT count(*) <= \(capacity), max(seq) FROM _freshet_log;"
    #expect(try fixture.write(insert(1) + sql) == "1|1")
    #expect(try fixture.write(insert(2_998) + sql) == "1|2999")
    #expect(try fixture.write(insert(1) + sql) == "1|3000")
    #expect(try fixture.write(insert(1) + sql) == "1|3001")
  }

  @Test func aWholeTableDeleteLeavesTheLogBounded() throws {
    let fixture = try ChangeLogFixture(Self.schema + insert(300_000), capacity: ChangeLog.defaultCapacity)
    let sql = "DELETE FROM t; SELECT count(*) BETWEEN 98000 AND 100000, max(seq) FROM _freshet_log;"
    #expect(try fixture.write(sql) == "1|300000")
    try fixture.write("INSERT INTO t VALUES (1, 1)")
    #expect(try fixture.write("SELECT max(seq) FROM _freshet_log") == "300001")
  }

  @Test func anotherCapacityTrimsAtOnce() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let reader = try reader(fixture)
    try fixture.write(insert(500))
    try fixture.install(capacity: 50)
    #expect(try fixture.write("SELECT count(*), max(seq) FROM _freshet_log") == "50|500")
    #expect(try fixture.isCurrent())
    #expect(try read(fixture, reader, after: 480).sequences.count == 20, "which is no gap by itself")
  }

  @Test func aLogMadeAnewIsAGap() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let reader = try reader(fixture)
    try fixture.write(insert(2))
    #expect(try read(fixture, reader, after: 0).sequences == [1, 2])
    try fixture.uninstall()
    let error = #expect(throws: StoreError.self) { try read(fixture, reader, after: 2) }
    #expect(error?.code == ErrorCode.notTracked)
    let another = #expect(throws: StoreError.self) { try self.reader(fixture) }
    #expect(another?.code == ErrorCode.notTracked)
    try fixture.install()
    try fixture.write(insert(5))
    let (outcome, sequences) = try read(fixture, reader, after: 2)
    #expect(outcome == .gap(newest: outcome.newest) && sequences == [])
    #expect(try read(fixture, reader, after: 2).sequences == [3, 4, 5], "once told, it goes on")
  }

  @Test func keyColumnsAddedLaterAreRead() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let reader = try reader(fixture)
    try fixture.write(insert(1) + "CREATE TABLE p(a, b, c, PRIMARY KEY (c, b, a));")
    try fixture.install()
    try fixture.write("INSERT INTO p VALUES (1, 2, 3)")
    try fixture.queue.read { _ in
      var key: [Int64] = []
      _ = try reader.read(after: 1) { row in
        key = (0..<3).map { sqlite3_column_int64(row.statement, ChangeRow.firstKeyColumn + $0) }
      }
      #expect(key == [3, 2, 1])
    }
  }

  @Test func vacuumKeepsTheLogAndMovesTheSchemaVersion() throws {
    let fixture = try ChangeLogFixture(Self.schema + "CREATE TABLE plain(v);")
    let reader = try reader(fixture)
    try fixture.write(insert(3) + "DELETE FROM t WHERE id = 2;")
    let before = try fixture.schemaVersion()
    try fixture.write("VACUUM")
    let (outcome, sequences) = try read(fixture, reader, after: 1)
    #expect(outcome == .complete(4))
    #expect(sequences == [2, 3, 4])
    #expect(try fixture.schemaVersion() > before)
    #expect(try fixture.isCurrent())
  }
}
