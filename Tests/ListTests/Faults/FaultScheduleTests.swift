import CFaultyFiles
import Controllers
import Foundation
import GRDB
import LiveQuery
import ServerSupport
import Store
import TestSupport
import Testing

extension FaultyFileTests {
  /// Reads, locks and looks at the WAL-index fail at any point of ticks and of readers' jobs, in every journal mode, while lists are in
  /// every phase: opened, run again, read for windows, asked again for another query, with clients that take nothing for a while.
  /// When all is well again, each list is what SQLite answers, without another commit.
  ///
  /// `FRESHET_SEED=n swift test --filter FaultScheduleTests` repeats a failure; `FRESHET_SEEDS=n` runs so many.
  @Suite(.serialized) struct FaultScheduleTests {
    private static let seeds: [UInt64] = {
      if let repeated = PropertySeeds.repeated { return [repeated] }
      // Its requery waited for rows that could not be read, and was forgotten.
      let kept: [UInt64] = [830_452_320_416]
      let first = UInt64.random(in: 0..<1 << 40)
      return kept + (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(3, long: 20)))).map { first + $0 }
    }()

    private static let modes = ["wal", "persist", "delete", "truncate"]
    private static let schema = """
      CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT, n INT, note TEXT);
      CREATE INDEX item_kind ON item(kind);
      CREATE TABLE kind(name TEXT PRIMARY KEY, label TEXT) WITHOUT ROWID;
      INSERT INTO kind VALUES ('a', 'first'), ('b', 'second'), ('c', 'third'), ('d', 'fourth');
      WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 60)
        INSERT INTO item SELECT x, substr('abc', x % 3 + 1, 1), x * 7 % 11, printf('%0100d', x) FROM i;
      """

    /// Each with what `requery` puts in its place.
    private static let queries: [(OracleQuery, OracleQuery)] = [
      (item(["note"], order: ["n"]), item(["note"], where: "n > 3", order: ["n DESC"])),
      (item(["note"], order: ["n"], window: (3, 5)), item(["note"], where: "kind <> 'a'", order: ["note"])),
      (item(["n"], order: ["n DESC"], limit: 7), item(["n"], order: ["note"], window: (0, 4))),
      (item(["note"], where: "n > 4", order: [], section: "kind"), item(["note"], order: ["n"], section: "n")),
      (
        OracleQuery(
          table: "item JOIN kind ON kind.name = item.kind", keys: ["item.id AS id"], select: ["label"],
          orderBy: ["label"], window: (0, 6), tellsKey: true),
        OracleQuery(
          table: "item JOIN kind ON kind.name = item.kind", keys: ["item.id AS id"], select: ["label"], filter: "n < 8",
          orderBy: ["n"], tellsKey: true)
      ),
      (
        OracleQuery(
          table: "item", keys: ["kind"], select: ["count(*) AS count", "max(n) AS most"], orderBy: ["kind"],
          groupBy: ["kind"]),
        OracleQuery(table: "item", keys: ["n"], select: ["count(*) AS count"], orderBy: ["n DESC"], groupBy: ["n"])
      ),
      // Run again after every change.
      (
        OracleQuery(
          table: "(SELECT kind AS name, sum(n) OVER (ORDER BY kind) AS sum, min(id) AS first FROM item GROUP BY kind)",
          keys: ["name"], select: ["sum", "first"], orderBy: ["sum"], tellsKey: true),
        item(["n"], order: ["n"], limit: 3)
      ),
    ]

    private static func item(
      _ select: [String], where filter: String? = nil, order: [String], section: String? = nil, limit: Int? = nil,
      window: (offset: Int, limit: Int)? = nil
    ) -> OracleQuery {
      OracleQuery(
        table: "item", keys: ["id"], select: select, filter: filter, section: section.map { ($0, false) },
        orderBy: order,
        limit: limit, window: window)
    }

    @Test(arguments: seeds, modes)
    func listsComeRightWithoutAnotherCommit(seed: UInt64, mode: String) throws {
      faulty_files_install()
      defer { _ = faulty_files_heal() }
      let schedule = try Schedule(seed: seed, mode: mode, Self.schema, Self.queries)
      for round in 0..<25 {
        for _ in 0..<14 { try schedule.act() }
        if let difference = try schedule.differenceWhenQuiet() {
          Issue.record(
            "FRESHET_SEED=\(seed), \(mode), round \(round): \(difference)\n\(schedule.events.joined(separator: ", "))")
          return
        }
      }
      #expect(schedule.faults > 2, "only \(schedule.faults) faults, seed \(seed), \(mode)")
    }

    private final class Schedule {
      private let folder: ProgramFolder
      private let queue: DatabaseQueue
      private let lists: SteppedLists
      private let queries: [(OracleQuery, OracleQuery)]
      /// By list, which of its two queries it may have: both when it is not known whether the server took a `requery`.
      private var shown: [Set<Int>]
      private var random: SeededGenerator
      private(set) var events: [String] = []
      private(set) var faults = 0

      init(seed: UInt64, mode: String, _ schema: String, _ queries: [(OracleQuery, OracleQuery)]) throws {
        random = SeededGenerator(seed: seed)
        folder = try ProgramFolder("PRAGMA page_size = 512; PRAGMA journal_mode = \(mode);" + schema)
        queue = try DatabaseQueue(path: folder.database)
        self.queries = queries
        shown = queries.map { _ in [0] }
        let isLarge = seed % 3 == 2
        lists = try SteppedLists(path: folder.database, queries.map(\.0)) {
          $0.refetchInterval = .zero
          $0.retryInterval = .zero
          if isLarge { $0.captureBytes = 0 }
        }
        try lists.writer.run("PRAGMA journal_mode = \(mode)")
        for _ in 0..<3 { lists.step() }
      }

      private func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

      func act() throws {
        let list = pick(0..<queries.count)
        switch pick(0..<16) {
        case 0..<3: try commit()
        case 3, 4:
          events.append("tick")
          lists.tick()
        case 5, 6:
          events.append("readers")
          lists.runReaders()
        case 7:
          events.append("step")
          lists.step()
        case 8, 9, 10:
          let number = pick(1..<12)
          let isOnce = pick(0..<3) > 0
          events.append("fault \(number)\(isOnce ? "" : "…")")
          faulty_files_arm(folder.database, Int32(number), isOnce)
        case 11:
          if faulty_files_heal() { faults += 1 }
          events.append("heal")
        case 12:
          let isDrained = pick(0..<2) == 0
          events.append("\(list) \(isDrained ? "drained" : "stalled")")
          lists.setDrained(list, isDrained)
        default: try ask(list)
        }
      }

      private func commit() throws {
        let id = pick(1..<70)
        let sql = [
          "UPDATE item SET n = (n + 5) % 12 WHERE id = \(id)", "DELETE FROM item WHERE id = \(id)",
          "INSERT OR REPLACE INTO item VALUES (\(id), char(97 + \(id) % 4), \(id) % 9, printf('%0100d', \(id)))",
          "UPDATE item SET note = note || 'x' WHERE id % 9 = \(id % 9)",
          "UPDATE item SET kind = 'd' WHERE id % 5 = \(id % 5)",
          "UPDATE kind SET label = 'label \(id)' WHERE name = '\(["a", "b", "c", "d"][id % 4])'",
        ][pick(0..<6)]
        events.append("commit")
        try lists.writer.run(sql)
      }

      private func ask(_ list: Int) throws {
        switch pick(0..<5) {
        case 0:
          lists.unsubscribe(list)
          try lists.subscribe(list, queries[list].0)
          (shown[list], lastAsked[list]) = ([0], nil)
          events.append("\(list) opened")
        case 1:
          lists.ask(list, .resync)
          events.append("\(list) resync")
        case 2, 3:
          let other = pick(0..<2)
          try lists.requery(list, other == 0 ? queries[list].0 : queries[list].1)
          shown[list].insert(other)
          lastAsked[list] = other
          events.append("\(list) requery \(other)")
        default:
          let window = Window(offset: pick(0..<30), limit: pick(0..<20))
          lists.ask(list, pick(0..<2) == 0 ? .window(window) : .fetch(window))
          events.append("\(list) window \(window.offset) \(window.limit)")
        }
      }

      /// The last query that each list's client asked for, where no error has come since.
      private var lastAsked: [Int: Int] = [:]

      /// Nothing fails any more, all clients take what they get, and no commit comes.
      func differenceWhenQuiet() throws -> String? {
        if faulty_files_heal() { faults += 1 }
        for list in queries.indices { lists.setDrained(list, true) }
        for _ in 0..<6 { lists.step() }
        // What was refused, as a client would try it again.
        if let trouble = lists.output.troubles.first(where: { !$0.contains(" ended: ") }) { return trouble }
        let held = lists.output.models
        let ended = lists.output.ended.filter { held[$0.key] == nil }
        for (id, error) in ended {
          guard let list = Int(id), error.code == .overloaded || error.code == .internal else {
            return "list \(id) ended: \(error)"
          }
          lists.output.forgetErrors(id)
          try lists.subscribe(list, queries[list].0)
          (shown[list], lastAsked[list]) = ([0], nil)
        }
        if !ended.isEmpty { for _ in 0..<3 { lists.step() } }
        if let trouble = lists.output.troubles.first(where: { !$0.contains(" ended: ") }) { return trouble }
        if lists.unanswered > 0 { return "\(lists.unanswered) requests were forgotten" }
        if lists.statistics.divergences > 0 { return "the self-check found a divergence" }
        let models = lists.output.models
        for list in queries.indices {
          guard let model = models["\(list)"] else { return "list \(list) has no rows" }
          let hadError = lists.output.delays["\(list)"] != nil
          if !hadError, let last = lastAsked[list] { shown[list] = [last] }
          let differences = try queue.read { db in
            try shown[list].map { choice in
              let query = choice == 0 ? queries[list].0 : queries[list].1
              return (choice, model.difference(from: try query.answer(db)))
            }
          }
          let fitting = differences.filter { $0.1 == nil }.map(\.0)
          if fitting.isEmpty { return "list \(list): \(differences.map { "query \($0): \($1 ?? "")" })" }
          shown[list] = Set(fitting)
          lastAsked[list] = nil
          lists.output.forgetErrors("\(list)")
        }
        events = []
        return nil
      }
    }
  }
}
