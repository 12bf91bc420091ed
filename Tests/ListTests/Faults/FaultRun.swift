import CFaultyFiles
import Following
import GRDB
import LiveQuery
import ServerSupport
import TestSupport

/// Lists while reads of the file fail. Steps that `RunStep` does not have are texts: `fault 3 once`, `fault 3`, `heal`,
/// `stall 2`, `drain 2`, `resync 2`, `requery 2 1`, `window 2 OFFSET LIMIT`, `fetch 2 OFFSET LIMIT`.
struct FaultRun: ReplayableRun {
  static let folder = "faults"
  private static let kinds = ["were forgotten", "self-check", " ended: ", "has no rows"]

  static let schema = """
    CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT, n INT, note TEXT);
    CREATE INDEX item_kind ON item(kind);
    CREATE TABLE kind(name TEXT PRIMARY KEY, label TEXT) WITHOUT ROWID;
    INSERT INTO kind VALUES ('a', 'first'), ('b', 'second'), ('c', 'third'), ('d', 'fourth');
    WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 60)
      INSERT INTO item SELECT x, substr('abc', x % 3 + 1, 1), x * 7 % 11, printf('%0100d', x) FROM i;
    """

  /// Queries, each with the one that `requery` replaces it by.
  static let queries: [(OracleQuery, OracleQuery)] = [
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

  /// The journal mode.
  var mode: String
  /// Whether tables are followed by pages, as if they were large.
  var isLarge: Bool
  var steps: [RunStep]

  var story: String {
    (["\(mode)\(isLarge ? ", by pages" : "")"] + steps.map(\.description)).joined(separator: "\n")
  }

  func simpler() -> [FaultRun] { isLarge ? [FaultRun(mode: mode, isLarge: false, steps: steps)] : [] }

  func failure() throws -> RunFailure? { try perform { _ in } }

  /// - Parameter end: called, if the run has not failed, with the number of faults that had an effect.
  func perform(_ end: (Int) -> Void) throws -> RunFailure? {
    faulty_files_install()
    defer { _ = faulty_files_heal() }
    let schedule = try FaultSchedule(self)
    for (index, step) in steps.enumerated() {
      try schedule.perform(step)
      guard step == .compare else { continue }
      if let difference = try schedule.differenceWhenQuiet() {
        let kind = Self.kinds.first(where: difference.contains) ?? "difference"
        return RunFailure(kind: kind, step: index, "step \(index): \(difference)")
      }
    }
    end(schedule.faults)
    return nil
  }
}

/// Draws the steps of a run.
struct FaultGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func step() -> RunStep {
    let list = pick(0..<FaultRun.queries.count)
    switch pick(0..<16) {
    case 0..<3: return commit()
    case 3, 4: return .tick
    case 5, 6: return .readers
    case 7: return .step
    case 8, 9, 10:
      let number = pick(1..<12)
      return .other("fault \(number)" + (pick(0..<3) > 0 ? " once" : ""))
    case 11: return .other("heal")
    case 12: return .other("\(pick(0..<2) == 0 ? "drain" : "stall") \(list)")
    default: return request(list)
    }
  }

  private mutating func commit() -> RunStep {
    let id = pick(1..<70)
    return .commit(
      [
        "UPDATE item SET n = (n + 5) % 12 WHERE id = \(id)", "DELETE FROM item WHERE id = \(id)",
        "INSERT OR REPLACE INTO item VALUES (\(id), char(97 + \(id) % 4), \(id) % 9, printf('%0100d', \(id)))",
        "UPDATE item SET note = note || 'x' WHERE id % 9 = \(id % 9)",
        "UPDATE item SET kind = 'd' WHERE id % 5 = \(id % 5)",
        "UPDATE kind SET label = 'label \(id)' WHERE name = '\(["a", "b", "c", "d"][id % 4])'",
      ][pick(0..<6)])
  }

  private mutating func request(_ list: Int) -> RunStep {
    switch pick(0..<5) {
    case 0: return .open(list)
    case 1: return .other("resync \(list)")
    case 2, 3: return .other("requery \(list) \(pick(0..<2))")
    default:
      let (offset, limit) = (pick(0..<30), pick(0..<20))
      return .other("\(pick(0..<2) == 0 ? "window" : "fetch") \(list) \(offset) \(limit)")
    }
  }
}

/// A run while it is performed.
private final class FaultSchedule {
  private let folder: ProgramFolder
  private let queue: DatabaseQueue
  private let lists: SteppedLists
  private let queries = FaultRun.queries
  /// For each list, which of its two queries it may show: both, if it is unknown whether the server accepted a
  /// `requery`.
  private var shown = FaultRun.queries.map { _ in Set([0]) }
  /// The last query that each list's client requested, unless an error has come since.
  private var lastAsked: [Int: Int] = [:]
  private(set) var faults = 0

  init(_ run: FaultRun) throws {
    folder = try ProgramFolder("PRAGMA page_size = 512; PRAGMA journal_mode = \(run.mode);" + FaultRun.schema)
    queue = try DatabaseQueue(path: folder.database)
    lists = try SteppedLists(path: folder.database, queries.map(\.0)) {
      $0.refetchInterval = .zero
      $0.retryInterval = .zero
      if run.isLarge { $0.captureBytes = 0 }
    }
    try lists.writer.run("PRAGMA journal_mode = \(run.mode)")
    for _ in 0..<3 { lists.step() }
  }

  private func heal() { if faulty_files_heal() { faults += 1 } }

  func perform(_ step: RunStep) throws {
    switch step {
    case .commit(let sql): try lists.writer.run(sql)
    case .tick: lists.tick()
    case .step: lists.step()
    case .readers: lists.runReaders()
    case .open(let list):
      lists.unsubscribe(list)
      try open(list)
    case .compare: break
    case .other(let text):
      let words = text.split(separator: " ")
      try perform(String(words[0]), words.dropFirst().compactMap { Int($0) }, isOnce: words.last == "once")
    }
  }

  private func perform(_ what: String, _ numbers: [Int], isOnce: Bool) throws {
    switch what {
    case "fault":
      heal()
      faulty_files_arm(folder.database, Int32(numbers[0]), isOnce)
    case "heal": heal()
    case "drain", "stall": lists.setDrained(numbers[0], what == "drain")
    case "resync": lists.ask(numbers[0], .resync)
    case "requery":
      try lists.requery(numbers[0], numbers[1] == 0 ? queries[numbers[0]].0 : queries[numbers[0]].1)
      shown[numbers[0]].insert(numbers[1])
      lastAsked[numbers[0]] = numbers[1]
    case "window": lists.ask(numbers[0], .window(Window(offset: numbers[1], limit: numbers[2])))
    default: lists.ask(numbers[0], .fetch(Window(offset: numbers[1], limit: numbers[2])))
    }
  }

  private func open(_ list: Int) throws {
    try lists.subscribe(list, queries[list].0)
    (shown[list], lastAsked[list]) = ([0], nil)
  }

  /// Compares the lists once nothing fails any more, all clients read, and no commit comes.
  func differenceWhenQuiet() throws -> String? {
    heal()
    for list in queries.indices { lists.setDrained(list, true) }
    for _ in 0..<6 { lists.step() }
    // Refused subscriptions, which a client would try again.
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
    return nil
  }
}
