import CFaultyFiles
import Controllers
import Following
import Foundation
import GRDB
import Logging
import Requests
import ServerSupport
import Store
import Synchronization
import TestSupport
import Testing

/// Tests in which files fail. They run one at a time, because `CFaultyFiles` has one state for the process.
@Suite(.serialized) enum FaultyFileTests {}

extension FaultyFileTests {
  /// Like SQLite's own tests with I/O errors: every read of a tick fails once, one after the other. After the next
  /// commit every list equals a fresh SELECT, and no subscription has ended.
  @Suite(.serialized) struct ReadFaultTests {
    struct Fault: CustomTestStringConvertible, Sendable {
      /// Whether tables are followed by rows; otherwise by pages, as if they were large.
      var byRows: Bool
      var isWAL: Bool
      /// Whether one read fails; otherwise all reads fail from there on, until the files are healed.
      var onlyOnce: Bool
      var testDescription: String {
        "\(byRows ? "rows" : "pages"), \(isWAL ? "WAL" : "rollback journal"), \(onlyOnce ? "once" : "for a while")"
      }

      static let all = [true, false].flatMap { byRows in
        [true, false].flatMap { isWAL in
          [true, false].map { Fault(byRows: byRows, isWAL: isWAL, onlyOnce: $0) }
        }
      }
    }

    private static let schema = """
      CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
      CREATE TABLE book(id INTEGER PRIMARY KEY, author_id INT REFERENCES author(id), title TEXT, year INT);
      CREATE INDEX book_author ON book(author_id);
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
        INSERT INTO author SELECT i, 'author ' || i, char(65 + i % 3) FROM n;
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
        INSERT INTO book SELECT i, 1 + i % 12, printf('title %0120d', i), 1900 + i % 7 FROM n;
      """

    private static func query(
      _ table: String, _ keys: [String], _ select: [String], where filter: String? = nil, section: String? = nil,
      orderBy: [String] = [], limit: Int? = nil, window: (offset: Int, limit: Int)? = nil, groupBy: [String] = [],
      tellsKey: Bool = false, alongside: [String: String] = [:]
    ) -> OracleQuery {
      OracleQuery(
        table: table, keys: keys, select: select, filter: filter, section: section.map { ($0, false) },
        orderBy: orderBy,
        limit: limit, window: window, groupBy: groupBy, tellsKey: tellsKey, alongside: alongside)
    }

    private static let queries = [
      query("book", ["id"], ["title", "year"], orderBy: ["title"]),
      query("book", ["id"], ["title"], section: "year", orderBy: ["title"], window: (3, 5)),
      query("author", ["id"], ["name"], section: "country", alongside: ["books": "SELECT count(*) FROM book"]),
      query(
        "book JOIN author ON author.id = book.author_id", ["book.id"], ["title", "name"], section: "author.name",
        limit: 20),
      query(
        "author LEFT JOIN book ON book.author_id = author.id", ["author.id", "book.id AS bid"], ["name", "title"],
        tellsKey: true),
      query(
        "author LEFT JOIN book ON book.author_id = author.id", ["author.id"], ["name", "count(book.id) AS n"],
        groupBy: ["author.id"]),
      query("book", ["year"], ["count(*) AS n", "max(title) AS last"], groupBy: ["year"]),
      query("book", ["1 AS one"], ["count(*) AS n", "max(year) AS newest"], tellsKey: true),
      query("author", ["id"], ["name", "(SELECT max(title) FROM book WHERE author_id = author.id) AS last"]),
    ]

    /// Changes rows of both tables that several lists show. Two consecutive commits change the same rows, so that rows
    /// that a failed tick has read are wrong for the second one.
    private func commit(_ number: Int) -> String {
      let id = 1 + number / 2 * 37 % 80
      let some = "id % 13 = \(number / 2 % 13)"
      let changes = [
        "UPDATE book SET title = printf('new %0120d', \(number)) WHERE \(some)",
        "UPDATE book SET year = 1900 + (year + 3) % 9, author_id = 1 + (author_id + 4) % 12 WHERE \(some)",
        "DELETE FROM book WHERE id = \(id); UPDATE author SET country = 'D' WHERE id = \(1 + id % 12)",
        "INSERT OR REPLACE INTO book VALUES (\(id), \(1 + number % 12), 'put \(number)', \(1900 + number % 9))",
        "UPDATE author SET name = 'named \(number)', country = char(65 + \(number) % 4) WHERE id IN (1, 2, 3, \(1 + id % 12))",
      ]
      return "BEGIN; \(changes[number % changes.count]); \(changes[(number + 2) % changes.count]); COMMIT"
    }

    @Test(arguments: Fault.all)
    func everyReadOfATickMayFail(fault: Fault) throws {
      try sweep(fault) { commit($0) }
    }

    @Test(arguments: Fault.all.filter { $0.byRows && $0.onlyOnce })
    func everyReadAfterAChangeOfTheSchemaMayFail(fault: Fault) throws {
      try sweep(fault) { number in
        let schema = number % 2 == 0 ? "CREATE TABLE other(a)" : "DROP TABLE other"
        return schema + ";" + commit(number)
      }
    }

    /// A client with the number of an older state would believe that the list shows its own row already.
    @Test(arguments: [true, false])
    func `A write gets the number of a state that has it, or none`(isHealed: Bool) throws {
      faulty_files_install()
      let folder = try ProgramFolder("PRAGMA journal_mode = WAL; CREATE TABLE t(a);")
      let clock = ManualClock()
      var configuration = FollowerConfiguration(path: folder.database)
      configuration.clock = clock.clock
      configuration.queryTimeout = .seconds(3)
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      let follower = try SteppedFollower(configuration, output: ModelOutput(), logger: logger)
      let numbers = Mutex<[Int64?]>([])
      let ask = { follower.post(.commit { number in numbers.withLock { $0.append(number) } }) }
      ask()
      follower.step()
      let before = try #require(numbers.withLock { $0 }.first ?? nil)
      faulty_files_arm(folder.database, 1, false)
      try SQLiteShell(path: folder.database).run("INSERT INTO t VALUES (1)")
      follower.requestTick()
      ask()
      for _ in 0..<5 { follower.step() }
      #expect(numbers.withLock { $0.count } == 1, "it waits")
      if isHealed { #expect(faulty_files_heal()) } else { clock.advance(by: .seconds(4)) }
      follower.requestTick()
      follower.step()
      #expect(numbers.withLock { $0.last } == .some(isHealed ? before + 1 : nil))
      faulty_files_heal()
    }

    private func sweep(_ fault: Fault, _ commit: (Int) -> String) throws {
      faulty_files_install()
      let folder = try ProgramFolder(
        "PRAGMA page_size = 512;" + (fault.isWAL ? "PRAGMA journal_mode = WAL;" : "") + Self.schema)
      let path = folder.database
      let queue = try DatabaseQueue(path: path)
      let lists = try SteppedLists(path: path, Self.queries) { configuration in
        configuration.refetchInterval = .zero
        configuration.retryInterval = .zero
        if !fault.byRows { configuration.captureBytes = 0 }
      }
      for _ in 0..<3 { lists.step() }
      try compare(lists, queue, "at first")
      var number = 0
      // The kinds of commits take turns, because each causes different reads.
      var unharmed = 0
      while unharmed < 5 {
        number += 1
        faulty_files_arm(path, Int32(number), fault.onlyOnce)
        try lists.writer.run(commit(2 * number))
        lists.step()
        unharmed = faulty_files_heal() ? 0 : unharmed + 1
        try lists.writer.run(commit(2 * number + 1))
        try settle(lists, queue)
        try compare(lists, queue, "after read \(number) failed")
      }
      #expect(number > 20, "only \(number) reads")
    }

    /// Waits until failed reads are tried again, which takes at least as long as their last run.
    private func settle(_ lists: SteppedLists, _ queue: DatabaseQueue) throws {
      _ = try comesTrue {
        lists.step()
        let models = lists.output.models
        return try queue.read { db in
          try Self.queries.enumerated().allSatisfy { try models["\($0)"]?.difference(from: $1.answer(db)) == nil }
        }
      }
    }

    private func compare(_ lists: SteppedLists, _ queue: DatabaseQueue, _ context: String) throws {
      let models = lists.output.models
      for (index, query) in Self.queries.enumerated() {
        let answer = try queue.read { try query.answer($0) }
        let difference = try #require(models["\(index)"], "list \(index) has no rows \(context)").difference(
          from: answer)
        try #require(difference == nil, "\(query.json) \(context)")
      }
      try #require(lists.output.troubles == [], "\(context)")
    }
  }
}
