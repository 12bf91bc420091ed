import Following
import GRDB
import LiveQuery
import Server
import ServerSupport
import TestSupport

/// Follows the lists of a run, and holds each as a client would.
protocol ListHolder: AnyObject {
  var queue: DatabaseQueue { get }
  func perform(_ step: RunStep) throws
  /// Returns when all commits have reached the clients.
  func settle() throws
  func model(_ list: Int) -> ClientModel?
  /// The code of the error that ended a list.
  func ended(_ list: Int) -> String?
  /// The code of the last error that did not end a list.
  func delay(_ list: Int) -> String?
  /// How many messages changed a list.
  func changes(_ list: Int) -> Int
  func open(_ list: ListRun.List) throws
  /// The violation of a rule that always holds; nil: none.
  func violation() -> String?
}

/// A follower without a thread.
final class SteppedHolder: ListHolder {
  private let folder: ProgramFolder
  let queue: DatabaseQueue
  private let lists: SteppedLists
  private let run: ListRun

  init(_ run: ListRun) throws {
    self.run = run
    folder = try ProgramFolder(run.setUp)
    queue = try DatabaseQueue(path: folder.database)
    lists = try SteppedLists(path: folder.database, [OracleQuery]()) { configuration in
      configuration.refetchInterval = .zero
      configuration.retryInterval = .zero
      if let bytes = run.captureBytes { configuration.captureBytes = bytes }
    }
    try lists.writer.run(run.preparation.replacing("FOLDER", with: folder.path))
    for list in run.lists { try lists.subscribe(list.id, list.query) }
  }

  func perform(_ step: RunStep) throws {
    switch step {
    case .commit(let sql): try lists.writer.run(sql)
    case .tick: lists.tick()
    case .step: lists.step()
    case .readers: lists.runReaders()
    case .open(let id): if let list = run.lists.first(where: { $0.id == id }) { try open(list) }
    case .compare, .other: break
    }
  }

  func settle() { for _ in 0..<3 { lists.step() } }
  func model(_ list: Int) -> ClientModel? { lists.output.models["\(list)"] }
  func ended(_ list: Int) -> String? { lists.output.ended["\(list)"]?.code.rawValue }
  func delay(_ list: Int) -> String? { lists.output.delays["\(list)"]?.code.rawValue }
  func changes(_ list: Int) -> Int { lists.output.messages["\(list)"] ?? 0 }

  func open(_ list: ListRun.List) throws {
    lists.unsubscribe(list.id)
    lists.output.forgetErrors("\(list.id)")
    try lists.subscribe(list.id, list.query)
  }

  func violation() -> String? {
    if let trouble = lists.output.troubles.first(where: { !$0.contains(" ended: ") }) { return trouble }
    return lists.statistics.divergences > 0 ? "the self-check found a divergence" : nil
  }
}

/// A server, and a client over a socket.
final class SocketHolder: ListHolder {
  private let live: LiveServer
  private let client: LiveClient
  private let run: ListRun

  init(_ run: ListRun) throws {
    self.run = run
    live = try LiveServer(run.setUp, isWAL: false) {
      $0.lists.selfCheck = .always
      if let bytes = run.captureBytes { $0.limits.captureMemory = bytes }
    }
    try live.writer.run(run.preparation)
    client = try live.connect()
    for list in run.lists { try open(list) }
  }

  deinit { live.stop() }

  var queue: DatabaseQueue { live.queue }
  func perform(_ step: RunStep) throws { if case .commit(let sql) = step { try live.writer.run(sql) } }
  func settle() throws { try client.catchUp(run.lists.map { "\($0.id)" }) }
  func model(_ list: Int) -> ClientModel? { client.models["\(list)"] }
  func ended(_ list: Int) -> String? { client.ended["\(list)"] }
  func delay(_ list: Int) -> String? { client.delays["\(list)"] }
  func changes(_ list: Int) -> Int { client.changes["\(list)"] ?? 0 }
  func open(_ list: ListRun.List) throws {
    try client.subscribe("\(list.id)", list.query.json, window: list.query.window)
  }
  func violation() -> String? { nil }
}

/// Performs a run. At each `compare` it compares each client's rows with SQLite's answer.
final class ListComparison {
  private let run: ListRun
  private let holder: any ListHolder
  private var answers: [Int: OracleQuery.Answer] = [:]
  private var changes: [Int: Int] = [:]
  private var commits = 0

  init(_ run: ListRun, _ holder: any ListHolder) {
    self.run = run
    self.holder = holder
  }

  func failure() throws -> RunFailure? {
    try remember()
    for (index, step) in run.steps.enumerated() {
      try holder.perform(step)
      if case .commit = step { commits += 1 }
      guard step == .compare else { continue }
      try holder.settle()
      if let failure = try compare(index) { return failure }
      if let violation = holder.violation() { return RunFailure(kind: "violation", step: index, violation) }
      commits = 0
    }
    return nil
  }

  private func remember() throws {
    for list in run.lists {
      answers[list.id] = try holder.queue.read { try list.query.answer($0) }
      changes[list.id] = holder.changes(list.id)
    }
  }

  private func compare(_ index: Int) throws -> RunFailure? {
    for list in run.lists {
      let id = list.id
      let before = answers[id]
      var query = list.query
      // Several rows had NULL in the primary key, so the list continues by rowid.
      if !query.tellsKey, query.keys != ["rowid"], holder.model(id)?.columns.first == "rowid" { query.keys = ["rowid"] }
      let answer = try holder.queue.read { try query.answer($0) }
      answers[id] = answer
      let context = "step \(index), list \(id), \(list.query.json) \(String(describing: list.query.window))"
      if let code = holder.ended(id) {
        // The list ended now, or could not be opened again after the previous commit.
        guard code == "duplicate_key", answer.hasDuplicates || before?.hasDuplicates ?? true else {
          return RunFailure(kind: "ended \(code)", step: index, "it ended, \(code): \(context)")
        }
        try holder.open(list)
        changes[id] = holder.changes(id)
        continue
      }
      // The list continues once the duplicate is gone, which a retry finds.
      for _ in 0..<20 where holder.delay(id) != nil && !answer.hasDuplicates { try holder.settle() }
      guard let model = holder.model(id) else { return RunFailure(kind: "empty", step: index, "no rows: \(context)") }
      if answer.hasDuplicates {
        // The list waits until the duplicate is gone.
        if holder.delay(id) == "duplicate_key" { continue }
        return RunFailure(kind: "duplicates", step: index, "two rows have one key: \(context)")
      }
      if let difference = model.difference(from: answer) {
        return RunFailure(kind: "difference", step: index, "\(difference): \(context)")
      }
      let count = holder.changes(id)
      defer { changes[id] = count }
      if run.expectsSilence, commits == 1, let before, before.rows == answer.rows, before.names == answer.names,
        count != changes[id]
      {
        return RunFailure(kind: "noise", step: index, "nothing changed, yet a message came: \(context)")
      }
    }
    return nil
  }
}
